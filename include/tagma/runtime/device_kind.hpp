// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Devices besides CPUs, for sessions of programs that are data.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/plan/site_kind.hpp"
#include "tagma/runtime/accelerator.hpp"

namespace tagma::plan {
class heap_plan;
}

namespace tagma::runtime {

class step_kernels;

/// Devices besides CPUs, for sessions of programs that are data.
struct device_kind : plan::site_kind {
  owned<accelerator> (*start)(const gpu_options& options) = nullptr;
  /// The kernels of those steps of a plan that are on such devices; nullptr: those of the CPU.
  owned<step_kernels> (*find_kernels)(const plan::heap_plan& plan) = nullptr;
};

}  // namespace tagma::runtime
