// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of GPUs that CUDA programs as values.

#include "conformance/kernels.hpp"
#include "tagma/device/cuda/kernel/fused.hpp"

namespace tagma::conformance {

// Families are compiled in several files, since together they would take long.
void add_loops(kernel_values& to);
void add_conversions(kernel_values& to);
void add_reductions(kernel_values& to);
void add_others(kernel_values& to);

}  // namespace tagma::conformance
