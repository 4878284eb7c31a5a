// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of the CPU for the steps of a plan.

#include "tagma/device/cpu/kernel/fused.hpp"

namespace tagma {

namespace device::cpu::detail {

template <class Plan, std::size_t... Step>
constexpr fixed_array<kernel_entry, sizeof...(Step)> step_entries(std::index_sequence<Step...>) {
  return {{step_entry<on_cpu, Plan, Step>()...}};
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
