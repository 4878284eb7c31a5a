// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Picks the kernel of the GPU for every step of a plan, as device/cpu/kernel_table.hpp does for the CPU. Recipes of
/// loops and operations with their element types are the only template arguments that reach a kernel, never a plan.

#include "tagma/device/cuda/kernel/concat.hpp"
#include "tagma/device/cuda/kernel/conv.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"
#include "tagma/device/cuda/kernel/fused.hpp"
#include "tagma/device/cuda/kernel/gather.hpp"
#include "tagma/device/cuda/kernel/matmul.hpp"
#include "tagma/device/cuda/kernel/optimizers.hpp"
#include "tagma/device/cuda/kernel/pool.hpp"
#include "tagma/device/cuda/kernel/random.hpp"
#include "tagma/device/cuda/kernel/reduce.hpp"
#include "tagma/device/cuda/kernel/slice.hpp"
#include "tagma/device/cuda/kernel/softmax.hpp"
#include "tagma/device/cuda/kernel/state.hpp"
#include "tagma/device/cuda/kernel/top_k.hpp"
#include "tagma/device/cuda/kernel/transpose.hpp"

namespace tagma {

namespace diagnose {
/// The GPU has a kernel for this operation.
template <const char& Operation>
inline constexpr bool cuda_has_kernel = !requires {
  device::cuda::kernel<Operation>::missing;
};
/// The GPU has a loop body for this element-wise operation.
template <const char& Operation>
inline constexpr bool cuda_has_loop_body = !requires {
  device::cuda::scalar_kernel<Operation>::missing;
};
}  // namespace diagnose

namespace device::cuda {

namespace detail {

template <class Plan, std::size_t Step, std::size_t... L, std::size_t... O>
constexpr auto loop_type(std::index_sequence<L...>, std::index_sequence<O...>) {
  constexpr const auto& raw = Plan::raw;
  constexpr auto load = static_cast<std::size_t>(raw.steps[Step].first_operand);
  constexpr auto first = static_cast<std::size_t>(raw.first_operation[Step]);
  return fused_loop<types<load_of<raw.loads[load + L].type, raw.loads[load + L].contiguous>...>,
                    types<operation_of<*raw.operations[first + O].op->key, raw.operations[first + O].type,
                                       raw.operations[first + O].operand[0], raw.operations[first + O].operand[1],
                                       raw.operations[first + O].operand[2]>...>>{};
}

template <class Plan, std::size_t Step, std::size_t... I>
constexpr kernel_entry plain_entry(std::index_sequence<I...>) {
  constexpr const plan::plan_node& node = Plan::nodes[static_cast<std::size_t>(Plan::steps[Step].node)];
  constexpr auto first = static_cast<std::size_t>(Plan::steps[Step].first_operand);
  if constexpr (diagnose::cuda_has_kernel<*node.op->key>)
    return kernel<*node.op->key>::template entry<
        node.spec.type, Plan::nodes[static_cast<std::size_t>(Plan::operands[first + I])].spec.type...>;
  else
    return {};
}

template <class Plan, std::size_t Step, std::size_t... O>
constexpr bool has_loop_bodies(std::index_sequence<O...>) {
  constexpr auto first = static_cast<std::size_t>(Plan::raw.first_operation[Step]);
  return (true && ... && diagnose::cuda_has_loop_body<*Plan::raw.operations[first + O].op->key>);
}

/// True if a step of a plan is placed on a GPU.
template <class Plan, std::size_t Step>
inline constexpr bool is_on_gpu =
    Plan::view.devices[static_cast<std::size_t>(Plan::nodes[static_cast<std::size_t>(Plan::steps[Step].node)].device)]
        .name.type == device_text("GPU");
}  // namespace detail

/// The kernel of a step of a plan; empty where it is elsewhere.
template <class Plan, std::size_t Step>
[[nodiscard]] constexpr kernel_entry step_entry() {
  constexpr auto operands = static_cast<std::size_t>(Plan::steps[Step].operands);
  if constexpr (!detail::is_on_gpu<Plan, Step> ||
                Plan::nodes[static_cast<std::size_t>(Plan::steps[Step].node)].op == &ir::info<plan::transfer>) {
    return {};
  } else if constexpr (Plan::steps[Step].fused) {
    constexpr auto operations = static_cast<std::size_t>(Plan::raw.operation_count[Step]);
    if constexpr (detail::has_loop_bodies<Plan, Step>(std::make_index_sequence<operations>{}))
      return decltype(detail::loop_type<Plan, Step>(
          std::make_index_sequence<static_cast<std::size_t>(Plan::raw.steps[Step].operands)>{},
          std::make_index_sequence<operations>{}))::entry;
    else
      return {};
  } else {
    return detail::plain_entry<Plan, Step>(std::make_index_sequence<operands>{});
  }
}

namespace detail {
template <class Plan, std::size_t... Step>
constexpr fixed_array<kernel_entry, sizeof...(Step)> step_entries(std::index_sequence<Step...>) {
  return {{step_entry<Plan, Step>()...}};
}
}  // namespace detail

/// The kernels of the steps of a plan, in their order; those that are elsewhere are empty.
template <class Plan>
inline constexpr auto kernel_entries = detail::step_entries<Plan>(std::make_index_sequence<Plan::steps.size()>{});

namespace detail {

/// True if a GPU has a kernel for a node of a graph. What only says where bytes are needs none.
template <class Graph, std::size_t I>
[[nodiscard]] constexpr bool has_kernel_for() {
  constexpr const ir::op_info* info = Graph::flat.nodes[I].op->info;
  if constexpr (Graph::flat.nodes[I].spec.type == dtype::string)
    return false;
  else if constexpr (info->kind == ir::op_kind::elementwise)
    return diagnose::cuda_has_loop_body<*info->key>;
  else if constexpr (info->kind == ir::op_kind::compute || info->kind == ir::op_kind::update)
    return diagnose::cuda_has_kernel<*info->key>;
  else
    return true;
}

template <class Graph, std::size_t... I>
constexpr fixed_array<bool, sizeof...(I)> find_kernels(std::index_sequence<I...>) {
  fixed_array<bool, sizeof...(I)> found{{has_kernel_for<Graph, I>()...}};
  for (ir::node_id i = 0; i < Graph::view.size(); ++i)
    for (const ir::node_id in : Graph::view.inputs(i))
      if (Graph::view[in].spec.type == dtype::string) found[i] = false;
  return found;
}

}  // namespace detail

/// For each node of a graph, whether a GPU has a kernel for it.
template <class Graph>
inline constexpr auto nodes_with_kernel = detail::find_kernels<Graph>(std::make_index_sequence<Graph::nodes>{});

}  // namespace device::cuda
}  // namespace tagma
