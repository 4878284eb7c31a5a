// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Devices besides CPUs, for sessions of programs that are data.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/plan/site_kind.hpp"
#include "tagma/runtime/accelerator.hpp"

namespace tagma::runtime {

/// Devices besides CPUs, for sessions of programs that are data. Their kernels are those of the CPU.
struct device_kind : plan::site_kind {
  owned<accelerator> (*start)(const gpu_options& options) = nullptr;
};

}  // namespace tagma::runtime
