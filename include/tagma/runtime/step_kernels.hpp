// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of plans that are made when a program runs: they are found by operation and element types.

#include "tagma/base/owned.hpp"
#include "tagma/plan/heap_plan.hpp"
#include "tagma/runtime/kernel.hpp"
#include "tagma/runtime/resource.hpp"

namespace tagma::runtime {

/// The kernels of the steps of such a plan, in their order.
class step_kernels {
 public:
  virtual ~step_kernels() = default;
  [[nodiscard]] virtual array_view<const kernel_entry> entries() const = 0;
};

/// Finds them. Defined by the registry of kernels: programs that run graphs which they were not compiled with link it
/// (`tagma::registry` in CMake, or the sources in tagma/device/cpu/registry/).
/// Throws Unimplemented that names the first operation and the element types for which there is none.
[[nodiscard]] owned<step_kernels> find_kernels(const plan::heap_plan& plan);

/// What makes a thing of a container that a program names, such as a queue; defined there as well.
/// Throws Unimplemented that names it if nothing does.
[[nodiscard]] const resource_functions& find_resource(const plan::plan_resource& named);

}  // namespace tagma::runtime
