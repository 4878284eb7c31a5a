// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of the CPU as values.

#include "conformance/kernels.hpp"
#include "tagma/device/cpu/kernel_table.hpp"

namespace tagma::conformance {

/// All of them.
[[nodiscard]] const kernel_values& cpu_kernels();

// Families are compiled in several files, since together they would take long.
void add_loops(kernel_values& to);
void add_conversions(kernel_values& to);
void add_reductions(kernel_values& to);
void add_others(kernel_values& to);

}  // namespace tagma::conformance
