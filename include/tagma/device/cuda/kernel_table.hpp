// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of the GPU for the steps of a plan.

#include "tagma/device/cuda/kernel/cell.hpp"
#include "tagma/device/cuda/kernel/concat.hpp"
#include "tagma/device/cuda/kernel/conv.hpp"
#include "tagma/device/cuda/kernel/elementwise.hpp"
#include "tagma/device/cuda/kernel/filter.hpp"
#include "tagma/device/cuda/kernel/fused.hpp"
#include "tagma/device/cuda/kernel/gather.hpp"
#include "tagma/device/cuda/kernel/matmul.hpp"
#include "tagma/device/cuda/kernel/matmul_integer.hpp"
#include "tagma/device/cuda/kernel/moments.hpp"
#include "tagma/device/cuda/kernel/optimizers.hpp"
#include "tagma/device/cuda/kernel/pool.hpp"
#include "tagma/device/cuda/kernel/random.hpp"
#include "tagma/device/cuda/kernel/reduce.hpp"
#include "tagma/device/cuda/kernel/scan.hpp"
#include "tagma/device/cuda/kernel/shuffle.hpp"
#include "tagma/device/cuda/kernel/slice.hpp"
#include "tagma/device/cuda/kernel/softmax.hpp"
#include "tagma/device/cuda/kernel/sort.hpp"
#include "tagma/device/cuda/kernel/state.hpp"
#include "tagma/device/cuda/kernel/top_k.hpp"
#include "tagma/device/cuda/kernel/transpose.hpp"

namespace tagma {

namespace device::cuda {

namespace detail {

/// True if a step of a plan is placed on a GPU.
template <class Plan, std::size_t Step>
inline constexpr bool is_on_gpu = Plan::view.devices[Plan::nodes[Plan::steps[Step].node].device].name.type ==
                                  device_text("GPU");

/// The kernel of a step of a plan; empty where it is elsewhere.
template <class Plan, std::size_t Step>
[[nodiscard]] constexpr kernel_entry entry_on_gpu() {
  if constexpr (is_on_gpu<Plan, Step> && Plan::nodes[Plan::steps[Step].node].op != &ir::info<plan::transfer>)
    return step_entry<on_cuda, Plan, Step>();
  else
    return {};
}

template <class Plan, std::size_t... Step>
constexpr fixed_array<kernel_entry, sizeof...(Step)> step_entries(std::index_sequence<Step...>) {
  return {{entry_on_gpu<Plan, Step>()...}};
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
  if constexpr (info->is(ir::op_kind::elementwise))
    return has_scalar_kernel<on_cuda, *info->key>;
  else if constexpr (info->is(ir::op_kind::compute) || info->is(ir::op_kind::update))
    return has_kernel<on_cuda, *info->key>;
  else
    return true;
}

template <class Graph, std::size_t... I>
constexpr fixed_array<bool, sizeof...(I)> find_kernels(std::index_sequence<I...>) {
  fixed_array<bool, sizeof...(I)> found{{has_kernel_for<Graph, I>()...}};
  for (ir::node_id i = 0; i < Graph::view.size(); ++i)
    if (ir::needs_host(Graph::view, i)) found[i] = false;
  return found;
}

}  // namespace detail

/// For each node of a graph, whether a GPU has a kernel for it.
template <class Graph>
inline constexpr auto nodes_with_kernel = detail::find_kernels<Graph>(std::make_index_sequence<Graph::nodes>{});

}  // namespace device::cuda
}  // namespace tagma
