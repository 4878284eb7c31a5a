// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The plan of some outputs of a program as constants of a short-named type.

#include "tagma/base/config.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/graph/pass/late.hpp"
#include "tagma/plan/devices.hpp"
#include "tagma/plan/loop_schedule.hpp"
#include "tagma/plan/loops.hpp"
#include "tagma/plan/peak.hpp"
#include "tagma/plan/transfer.hpp"

namespace tagma::detail {

/// What is done to the tables of a plan that keeps values; <tagma/passes.hpp> has it.
template <class Graph>
struct kept_steps;

/// Where the nodes of a program run, worked out when the first run or its session asks.
template <class Graph>
struct placed_graph {
  static constexpr auto placed = ir::place_locally<Graph>();
  static constexpr std::size_t device_count = placed.set().size();

  static constexpr auto devices = [] {
    fixed_array<plan::plan_device, device_count> list{};
    plan::list_devices(Graph::view, placed.set(), placed.devices(), list);
    return list;
  }();
  /// The kind of device of each device, -1 for a CPU.
  static constexpr auto kinds = [] {
    fixed_array<int, device_count> list{};
    for (std::size_t d = 0; d < device_count; ++d) {
      list[d] = -1;
      if constexpr (ir::knows_accelerators<Graph>) list[d] = ir::kind_of<Graph>(placed.set()[d].name.type.view());
    }
    return list;
  }();
  /// Whether a node is on a device of a kind.
  static constexpr bool uses_kind(int k) {
    for (const std::int16_t d : placed.devices())
      if (d >= 0 && kinds[d] == k) return true;
    return false;
  }
  /// The kind of a device that has a node, -1 if no node is on one that is no CPU; -2 if nodes are on several kinds.
  static constexpr int kind = [] {
    int found = -1;
    for (const std::int16_t d : placed.devices())
      if (d >= 0 && kinds[d] >= 0) found = found == -1 || found == kinds[d] ? kinds[d] : -2;
    return found;
  }();
  /// How many copies bring a tensor from one device to another, at most: two, by way of the host, between two kinds.
  static constexpr std::size_t copies = kind == -2 ? 2 : 1;
  /// True if a node is on a device that is no CPU.
  static constexpr bool is_accelerated = kind != -1;
  /// For each node, whether its device has a kernel for it that goes on with a loop; empty if none has.
  template <int... Kind>
  static constexpr auto find_begins_loop(std::integer_sequence<int, Kind...>) {
    fixed_array<bool, Graph::nodes> list{};
    const auto look = [&]<int K>(std::integral_constant<int, K>) {
      if constexpr (ir::accelerator_of<Graph, K>::exists)
        for (ir::node_id i = 0; i < Graph::view.size(); ++i)
          if (const std::int16_t d = placed.devices()[i]; d >= 0 && kinds[d] == K)
            list[i] = ir::accelerator_of<Graph, K>::begins_loop(Graph::view.info(i));
    };
    (look(std::integral_constant<int, Kind>{}), ...);
    return list;
  }
  static constexpr auto begins_loop = [] {
    if constexpr (is_accelerated)
      return find_begins_loop(std::make_integer_sequence<int, ir::most_kinds>{});
    else
      return fixed_array<bool, 0>{};
  }();
};

template <class T, std::size_t N, std::size_t M>
[[nodiscard]] constexpr fixed_array<T, N> first_of(const fixed_array<T, M>& from) {
  fixed_array<T, N> to{};
  for (std::size_t i = 0; i < N; ++i) to[i] = from[i];
  return to;
}

/// The order of the steps of a plan.
template <class Graph, std::size_t Edges>
[[nodiscard]] constexpr auto order_steps(const ir::graph_view& g, const fixed_array<ir::need, Graph::nodes>& needs,
                                         const ir::fusion<Graph::nodes>& fusion) {
  if constexpr (Graph::loops > 0)
    return plan::schedule_loops<Graph::nodes, Edges>(g, needs, fusion);
  else
    return plan::schedule<Graph::nodes, Edges>(g, needs, fusion);
}

/// What is left to do for a plan once its steps are known.
/// @tparam Room for transfers
template <class Graph, class Where, std::size_t Room, class Tables>
[[nodiscard]] constexpr auto finish_plan([[maybe_unused]] const ir::graph_view& g, const Tables& tables,
                                         [[maybe_unused]] const fixed_array<ir::need, Graph::nodes>& needs) {
  const auto with_storage = [&](const auto& p) {
    if constexpr (Graph::loops > 0 && Graph::keeps)
      return plan::assign_loops<Graph::loops, plan::more_rows(Graph::view)>(p, g, needs, kept_steps<Graph>::count(p));
    else if constexpr (Graph::loops > 0)
      return plan::assign_loops<Graph::loops, plan::more_rows(Graph::view)>(p, g, needs);
    else if constexpr (Graph::keeps)
      return plan::assign_storage(p, kept_steps<Graph>::count(p));
    else
      return plan::assign_storage(p);
  };
  if constexpr (Where::device_count > 1)
    return with_storage(plan::add_transfers<Where::device_count, Room>(tables, Where::devices, g));
  else
    return with_storage(tables);
}
/// The order of the steps of a plan, those that are kept first.
template <class Graph, class Order>
[[nodiscard]] constexpr Order kept_first(const Order& order) {
  if constexpr (Graph::keeps)
    return kept_steps<Graph>::first(order);
  else
    return order;
}

/// What some outputs of a program need.
template <class Graph, int... Outputs>
struct plan_needs {
  static constexpr fixed_array<ir::node_id, sizeof...(Outputs)> wanted{{Graph::flat.roots[Outputs]...}};
  using planned = ir::planned_graph<Graph>;
  static constexpr std::size_t edge_bound = planned::edges + Graph::nodes + plan::output_count(Graph::view);
  static constexpr auto needs = ir::prune<Graph::nodes>(planned::view, wanted);
  using where = placed_graph<Graph>;
};

/// Its loops, and the order of its steps.
/// @tparam Careful as of `ir::fuse`
template <class Graph, bool Careful, int... Outputs>
struct plan_order : plan_needs<Graph, Outputs...> {
  using of = plan_needs<Graph, Outputs...>;
  static constexpr bool careful = Careful;
  static constexpr auto fusion = ir::fuse<Graph::nodes>(of::planned::view, of::needs, of::wanted,
                                                        of::where::placed.devices(), of::where::begins_loop, Careful);
  static constexpr auto order =
      kept_first<Graph>(order_steps<Graph, of::edge_bound>(of::planned::view, of::needs, fusion));
};

/// Loops that hold each other up are made anew with care.
template <class Graph, int... Outputs>
using plan_in_order = plan_order<Graph, plan_order<Graph, false, Outputs...>::order.contradictory, Outputs...>;

/// The plan of some outputs of a program, in tables that are exactly as large as they must be.
template <class Graph, int... Outputs>
struct compiled_plan : plan_in_order<Graph, Outputs...> {
  using graph = Graph;
  using in_order = plan_in_order<Graph, Outputs...>;
  using typename in_order::planned, typename in_order::where;
  static constexpr auto tables =
      plan::write_tables<Graph::nodes, in_order::edge_bound, Graph::attributes, sizeof...(Outputs)>(
          planned::view, in_order::wanted, in_order::needs, in_order::fusion, in_order::order, where::placed.devices());
  static constexpr auto raw = finish_plan<Graph, where, where::copies*(in_order::edge_bound + sizeof...(Outputs))>(
      planned::view, tables, in_order::needs);

  static constexpr auto nodes = first_of<plan::plan_node, raw.sizes.nodes>(raw.nodes);
  static constexpr auto inputs = first_of<ir::node_id, raw.sizes.inputs>(raw.inputs);
  static constexpr auto attributes = first_of<ir::attribute, raw.sizes.attributes>(raw.attributes);
  static constexpr auto steps = first_of<plan::plan_step, raw.sizes.steps>(raw.steps);
  static constexpr auto operands = first_of<ir::node_id, raw.sizes.operands>(raw.operands);
  static constexpr auto blocks = first_of<plan::plan_block, raw.sizes.blocks>(raw.blocks);
  static constexpr auto fetches = raw.fetches;
  static constexpr auto fetch_steps = raw.fetch_steps;
  static constexpr auto loops = [] {
    if constexpr (Graph::loops > 0)
      return first_of<plan::plan_loop, raw.loop_count>(raw.loops);
    else
      return fixed_array<plan::plan_loop, 0>{};
  }();
  static constexpr auto rows = [] {
    if constexpr (Graph::loops > 0)
      return first_of<plan::plan_row, raw.row_count>(raw.rows);
    else
      return fixed_array<plan::plan_row, 0>{};
  }();
  static constexpr plan::plan_view view{nodes,          inputs,
                                        attributes,     steps,
                                        operands,       blocks,
                                        fetches,        fetch_steps,
                                        raw.feeds,      raw.writes_variables,
                                        where::devices, where::placed.reasons(),
                                        loops,          rows};
};

/// Bytes of the arenas of a plan when every dynamic extent has one value. Throws InvalidArgument if an operation does
/// not take such extents, and ResourceExhausted for more than `max_bytes`.
template <class Plan>
[[nodiscard]] constexpr std::int64_t peak_bytes(extent size) {
  return plan::peak_bytes<Plan::nodes.size(), Plan::blocks.size()>(Plan::view, size);
}

template <class Graph, std::size_t... I>
constexpr auto plan_of_all(std::index_sequence<I...>) -> compiled_plan<Graph, static_cast<int>(I)...> {
  return {};
}

}  // namespace tagma::detail
