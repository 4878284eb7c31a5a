// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Picks the kernel of each step of a plan from those that a kind of device has. Kernels are keyed by operation and
/// element types, loops by their recipe, so a hundred equal layers cost the compiler as much as one, and no plan is
/// ever an argument of a kernel. A device names its own in a class, here `Kernels`:
///   template <const char& Key> static constexpr bool has_kernel, has_loop
///   template <const char& Key> using kernel, with `entry<Out, In...>`
///   template <dtype Type, bool Contiguous> using load
///   template <const char& Key, dtype Out, int A, int B, int C> using operation
///   template <class Loads, class Operations> using loop, with `entry`; both arguments are `types<...>`
///   template <const char& Key, class Loop, dtype Out, dtype... In> using kernel_with_loop, with `entry`

#include <type_traits>
#include <utility>

#include "tagma/plan/compile.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma::device {

/// Types in a row.
template <class...>
struct types;

/// A kernel that goes on with a loop over its result; in kernel_then_loop.hpp.
template <const runtime::kernel_entry* Kernel, const runtime::kernel_entry* Loop, std::size_t Inputs>
class kernel_then_loop;

namespace detail {

// What the steps of a plan are read from, by itself: for each expression that reads a constant out of a table, nvcc's
// front end copies the whole table.
template <std::size_t Count, class T, std::size_t All>
constexpr fixed_array<T, Count> first_entries(const fixed_array<T, All>& table) {
  fixed_array<T, Count> first{};
  for (std::size_t i = 0; i != Count; ++i) first[i] = table[i];
  return first;
}
template <std::size_t Count>
constexpr fixed_array<dtype, Count> types_of(const fixed_array<plan::plan_node, Count>& nodes) {
  fixed_array<dtype, Count> types{};
  for (std::size_t i = 0; i != Count; ++i) types[i] = nodes[i].spec.type;
  return types;
}
template <class Plan>
inline constexpr auto node_types = types_of(Plan::nodes);
template <class Plan>
inline constexpr auto loads_of = first_entries<Plan::raw.sizes.operands>(Plan::raw.loads);
template <class Plan>
inline constexpr auto operations_of = first_entries<Plan::raw.sizes.operations>(Plan::raw.operations);
template <class Plan>
inline constexpr auto first_operations = first_entries<Plan::steps.size()>(Plan::raw.first_operation);
template <class Plan>
inline constexpr auto operation_counts = first_entries<Plan::steps.size()>(Plan::raw.operation_count);

/// The operation of a step that there is nothing for, or nullptr.
template <class Kernels, class Plan, std::size_t Step, std::size_t... O>
constexpr const ir::op_info* find_missing(std::index_sequence<O...>) {
  if constexpr (Plan::steps[Step].fused) {
    constexpr const auto& operations = operations_of<Plan>;
    constexpr auto first = static_cast<std::size_t>(first_operations<Plan>[Step]);
    const ir::op_info* missing = nullptr;
    if constexpr (Plan::steps[Step].before != ir::no_node) {
      constexpr const ir::op_info* op = Plan::nodes[static_cast<std::size_t>(Plan::steps[Step].before)].op;
      if (!Kernels::template has_kernel<*op->key>) missing = op;
    }
    ((missing == nullptr && !Kernels::template has_loop<*operations[first + O].op->key>
          ? void(missing = operations[first + O].op)
          : void()),
     ...);
    return missing;
  } else {
    constexpr const ir::op_info* op = Plan::nodes[static_cast<std::size_t>(Plan::steps[Step].node)].op;
    return Kernels::template has_kernel<*op->key> ? nullptr : op;
  }
}
template <class Kernels, class Plan, std::size_t Step>
inline constexpr const ir::op_info* missing_in_step = find_missing<Kernels, Plan, Step>(
    std::make_index_sequence<static_cast<std::size_t>(operation_counts<Plan>[Step])>{});

template <class Kernels, class Plan, std::size_t Step, std::size_t... L, std::size_t... O>
constexpr auto loop_type(std::index_sequence<L...>, std::index_sequence<O...>) {
  constexpr const auto& loads = loads_of<Plan>;
  constexpr const auto& operations = operations_of<Plan>;
  constexpr auto load =
      static_cast<std::size_t>(Plan::steps[Step].first_operand + Plan::steps[Step].operands) - sizeof...(L);
  constexpr auto first = static_cast<std::size_t>(first_operations<Plan>[Step]);
  return std::type_identity<typename Kernels::template loop<
      types<typename Kernels::template load<loads[load + L].type, loads[load + L].contiguous>...>,
      types<typename Kernels::template operation<*operations[first + O].op->key, operations[first + O].type,
                                                 operations[first + O].operand[0], operations[first + O].operand[1],
                                                 operations[first + O].operand[2]>...>>>{};
}

/// @tparam I the inputs of the kernel before the loop
template <class Kernels, class Plan, std::size_t Step, std::size_t... I>
constexpr runtime::kernel_entry loop_entry(std::index_sequence<I...>) {
  using loop = typename decltype(loop_type<Kernels, Plan, Step>(
      std::make_index_sequence<static_cast<std::size_t>(Plan::steps[Step].operands) - sizeof...(I) +
                               (sizeof...(I) > 0 ? 1 : 0)>{},
      std::make_index_sequence<static_cast<std::size_t>(operation_counts<Plan>[Step])>{}))::type;
  if constexpr (sizeof...(I) == 0) {
    return loop::entry;
  } else {
    constexpr auto node = static_cast<std::size_t>(Plan::steps[Step].before);
    constexpr auto first = static_cast<std::size_t>(Plan::steps[Step].first_operand);
    constexpr const char* key = Plan::nodes[node].op->key;
    return Kernels::template kernel_with_loop<
        *key, loop, node_types<Plan>[node],
        node_types<Plan>[static_cast<std::size_t>(Plan::operands[first + I])]...>::entry;
  }
}
/// Inputs of the kernel before the loop of a step.
template <class Plan, std::size_t Step>
constexpr std::size_t inputs_before() {
  constexpr auto before = Plan::steps[Step].before;
  if constexpr (before == ir::no_node)
    return 0;
  else
    return static_cast<std::size_t>(Plan::nodes[static_cast<std::size_t>(before)].inputs);
}

template <class Kernels, class Plan, std::size_t Step, std::size_t... I>
constexpr runtime::kernel_entry plain_entry(std::index_sequence<I...>) {
  constexpr auto node = static_cast<std::size_t>(Plan::steps[Step].node);
  constexpr auto first = static_cast<std::size_t>(Plan::steps[Step].first_operand);
  constexpr const char* key = Plan::nodes[node].op->key;
  return Kernels::template kernel<*key>::template entry<
      node_types<Plan>[node], node_types<Plan>[static_cast<std::size_t>(Plan::operands[first + I])]...>;
}

template <class Kernels, class Plan, std::size_t... Step>
constexpr const ir::op_info* first_missing(std::index_sequence<Step...>) {
  // An array, not a fold: clang folds at most 256 terms.
  const ir::op_info* const missing[] = {nullptr, missing_in_step<Kernels, Plan, Step>...};
  for (const ir::op_info* op : missing)
    if (op != nullptr) return op;
  return nullptr;
}

}  // namespace detail

/// The first operation of a plan that a device has no kernel for, or nullptr.
template <class Kernels, class Plan>
inline constexpr const ir::op_info* missing_kernel =
    detail::first_missing<Kernels, Plan>(std::make_index_sequence<Plan::steps.size()>{});

/// The kernel of a step; empty if there is none.
template <class Kernels, class Plan, std::size_t Step>
[[nodiscard]] constexpr runtime::kernel_entry step_entry() {
  if constexpr (detail::missing_in_step<Kernels, Plan, Step> != nullptr)
    return {};
  else if constexpr (Plan::steps[Step].fused)
    return detail::loop_entry<Kernels, Plan, Step>(std::make_index_sequence<detail::inputs_before<Plan, Step>()>{});
  else
    return detail::plain_entry<Kernels, Plan, Step>(
        std::make_index_sequence<static_cast<std::size_t>(Plan::steps[Step].operands)>{});
}

}  // namespace tagma::device
