// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// GPUs for sessions of programs that are data, and of those that are compiled late.

#include "tagma/base/config.hpp"
#include "tagma/runtime/device_kind.hpp"

namespace tagma {

/// NVIDIA's GPUs, on which a session of a program that is data places what it may:
///
///     tagma::session session(data, {.seed = 3}, tagma::gpus());
///
/// Defined by the registry of their kernels: the files of tagma/device/cuda/registry/, which nvcc compiles; CMake's
/// `tagma::gpu_registry` has them. A machine without a GPU runs the program on its CPU.
[[nodiscard]] const runtime::device_kind& gpus();

template <class Graph>
  requires(true)
struct plan::devices_of_late<Graph, 0> {
  [[nodiscard]] static const runtime::device_kind& kind() { return gpus(); }
};

}  // namespace tagma
