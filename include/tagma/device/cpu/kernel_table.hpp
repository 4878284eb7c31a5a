// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Picks the kernel of every step of a plan. Kernels are keyed by operation and element types, loops by their recipe,
/// so a hundred equal layers cost the compiler as much as one.

#include "tagma/device/cpu/kernel/fused.hpp"

namespace tagma {

namespace diagnose {
/// The CPU has a kernel for this operation.
template <const char& Operation>
inline constexpr bool cpu_has_kernel = !requires {
  device::cpu::kernel<Operation>::missing;
};
/// The CPU has a loop body for this element-wise operation.
template <const char& Operation>
inline constexpr bool cpu_has_loop_body = !requires {
  device::cpu::scalar_kernel<Operation>::missing;
};
}  // namespace diagnose

namespace device::cpu::detail {

template <class Plan, std::size_t Step, std::size_t... L, std::size_t... O>
constexpr auto loop_type(std::index_sequence<L...>, std::index_sequence<O...>) {
  constexpr const auto& raw = Plan::raw;
  constexpr auto load = static_cast<std::size_t>(raw.steps[Step].first_operand);
  constexpr auto first = static_cast<std::size_t>(raw.first_operation[Step]);
  return fused_loop<std::tuple<load_of<raw.loads[load + L].type, raw.loads[load + L].contiguous>...>,
                    std::tuple<operation_of<*raw.operations[first + O].op->key, raw.operations[first + O].type,
                                            raw.operations[first + O].operand[0], raw.operations[first + O].operand[1],
                                            raw.operations[first + O].operand[2]>...>>{};
}

template <class Plan, std::size_t Step, std::size_t... I>
constexpr kernel_entry plain_entry(std::index_sequence<I...>) {
  constexpr const plan::plan_node& node = Plan::nodes[static_cast<std::size_t>(Plan::steps[Step].node)];
  constexpr auto first = static_cast<std::size_t>(Plan::steps[Step].first_operand);
  if constexpr (diagnose::cpu_has_kernel<*node.op->key>)
    return kernel<*node.op->key>::template entry<
        node.spec.type, Plan::nodes[static_cast<std::size_t>(Plan::operands[first + I])].spec.type...>;
  else
    return {};  // `missing` tells
}

/// The first operation of a step that has no kernel, or nullptr.
template <class Plan, std::size_t Step, std::size_t... O>
constexpr const ir::op_info* missing_in_step(std::index_sequence<O...>) {
  if constexpr (Plan::steps[Step].fused) {
    constexpr const auto& raw = Plan::raw;
    constexpr auto first = static_cast<std::size_t>(raw.first_operation[Step]);
    const ir::op_info* missing = nullptr;
    ((missing == nullptr && !diagnose::cpu_has_loop_body<*raw.operations[first + O].op->key>
          ? void(missing = raw.operations[first + O].op)
          : void()),
     ...);
    return missing;
  } else {
    constexpr const ir::op_info* op = Plan::nodes[static_cast<std::size_t>(Plan::steps[Step].node)].op;
    return diagnose::cpu_has_kernel<*op->key> ? nullptr : op;
  }
}

template <class Plan, std::size_t... Step>
constexpr const ir::op_info* missing_kernel(std::index_sequence<Step...>) {
  // An array, not a fold: clang folds at most 256 terms.
  const ir::op_info* const missing[] = {
      nullptr, missing_in_step<Plan, Step>(
                   std::make_index_sequence<static_cast<std::size_t>(Plan::raw.operation_count[Step])>{})...};
  for (const ir::op_info* op : missing)
    if (op != nullptr) return op;
  return nullptr;
}

template <class Plan, std::size_t Step>
constexpr kernel_entry step_entry() {
  if constexpr (Plan::steps[Step].fused)
    return decltype(loop_type<Plan, Step>(
        std::make_index_sequence<static_cast<std::size_t>(Plan::raw.steps[Step].operands)>{},
        std::make_index_sequence<static_cast<std::size_t>(Plan::raw.operation_count[Step])>{}))::entry;
  else
    return plain_entry<Plan, Step>(std::make_index_sequence<static_cast<std::size_t>(Plan::steps[Step].operands)>{});
}

template <class Plan, std::size_t... Step>
constexpr fixed_array<kernel_entry, sizeof...(Step)> step_entries(std::index_sequence<Step...>) {
  return {{step_entry<Plan, Step>()...}};
}

}  // namespace device::cpu::detail

namespace runtime {

template <class Plan>
struct kernel_table {
  /// The first operation of the plan that the CPU has no kernel for, or nullptr.
  static constexpr const ir::op_info* missing =
      device::cpu::detail::missing_kernel<Plan>(std::make_index_sequence<Plan::steps.size()>{});
  static constexpr auto entries =
      device::cpu::detail::step_entries<Plan>(std::make_index_sequence<Plan::steps.size()>{});
};

}  // namespace runtime
}  // namespace tagma
