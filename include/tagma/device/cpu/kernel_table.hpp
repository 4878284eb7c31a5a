// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of the CPU for the steps of a plan.

#include "tagma/device/cpu/kernel/fused.hpp"

namespace tagma {

namespace device::cpu::detail {

/// The kernel of a step of a program that keeps values; <tagma/passes.hpp> has it.
template <class Plan, std::size_t Step>
struct kept_entry;

template <class Plan, std::size_t Step>
constexpr kernel_entry entry_of_step() {
  if constexpr (Plan::graph::keeps)
    return kept_entry<Plan, Step>::value;
  else
    return step_entry<on_cpu, Plan, Step>();
}

template <class Plan, std::size_t... Step>
constexpr fixed_array<kernel_entry, sizeof...(Step)> step_entries(std::index_sequence<Step...>) {
  return {{entry_of_step<Plan, Step>()...}};
}

}  // namespace device::cpu::detail

namespace runtime {

template <class Plan>
struct kernel_table {
  /// The first operation of the plan that the CPU has no kernel for, or nullptr.
  static constexpr const ir::op_info* missing = device::missing_kernel<device::on_cpu, Plan>;
  static constexpr auto entries =
      device::cpu::detail::step_entries<Plan>(std::make_index_sequence<Plan::steps.size()>{});
};

}  // namespace runtime
}  // namespace tagma
