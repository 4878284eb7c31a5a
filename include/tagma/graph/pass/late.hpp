// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Who waits for extents that kernels find. A node that reads only the shape of an input waits for nothing, except
/// where that shape is known late: then it gets control dependencies on the operations that find it.

#include "tagma/graph/build.hpp"

namespace tagma::ir {

/// True if an operation of the graph finds extents while it runs.
[[nodiscard]] constexpr bool has_late(const graph_view& g) {
  const node* const nodes = g.nodes.data();
  const int size = g.size();
  for (int i = 0; i < size; ++i)
    if (nodes[i].op->info->late) return true;
  return false;
}

/// True if one in the body of a loop does.
[[nodiscard]] constexpr bool has_late_in_loop(const graph_view& g) {
  for (int i = 0; i < g.size(); ++i)
    if (g.nodes[i].op->info->late && g.loop_of[i] >= 0) return true;
  return false;
}

namespace detail {

/// Which operations find extents, one bit each. Those behind the first 63 share a bit: who waits for one of them waits
/// for all.
template <std::size_t N>
struct late_finders {
  static constexpr int most = 64;
  fixed_array<node_id, N> finder{};  ///< in the order of the graph
  int count = 0;
  fixed_array<std::uint64_t, N> extents{};  ///< of each node: which find dynamic extents of it
  fixed_array<std::uint64_t, N> before{};   ///< which have run when it is computed

  [[nodiscard]] static constexpr std::uint64_t bit(int finder) {
    return std::uint64_t{1} << (finder < most ? finder : most - 1);
  }
  /// What node `i` has to wait for beside what it reads.
  [[nodiscard]] constexpr std::uint64_t missing(const graph_view& g, node_id i) const {
    const node_id* const in = g.edges.data() + g[i].first_edge;
    std::uint64_t shapes = 0, known = 0;
    for (int k = 0; k < g[i].inputs; ++k)
      (g.info(i).ignores_elements(k) ? shapes : known) |=
          g.info(i).ignores_elements(k) ? extents[in[k]] : before[in[k]];
    for (int k = g[i].inputs; k < g[i].inputs + g[i].controls; ++k) known |= before[in[k]];
    return shapes & ~(count > most ? known & ~bit(most) : known);
  }
};

template <std::size_t N>
[[nodiscard]] constexpr late_finders<N> find_late(const graph_view& g) {
  late_finders<N> found;
  if constexpr (N == heap_room) make_room(g.size(), found.finder, found.extents, found.before);
  for (node_id i = 0; i < g.size(); ++i) {
    const node& n = g[i];
    const node_id* const in = g.edges.data() + n.first_edge;
    std::uint64_t extents = 0, before = 0;
    for (int k = 0; k < n.inputs; ++k) {
      extents |= found.extents[in[k]];
      if (!n.op->info->ignores_elements(k)) before |= found.before[in[k]];
    }
    for (int k = n.inputs; k < n.inputs + n.controls; ++k) before |= found.before[in[k]];
    if (n.op->info->late) {
      found.finder[found.count] = i;
      extents = late_finders<N>::bit(found.count++);
      before |= extents;
    }
    // A node that has several results has no extents of its own.
    const bool is_static = n.op->info->outputs == 0 && n.spec.dims.is_static();
    found.extents[i] = is_static ? 0 : extents;
    found.before[i] = before | found.missing(g, i);
  }
  return found;
}

/// How many control dependencies are missing.
template <std::size_t N>
[[nodiscard]] constexpr std::size_t count_late_waits(const graph_view& g, const late_finders<N>& found) {
  std::size_t count = 0;
  for (node_id i = 0; i < g.size(); ++i)
    if (const std::uint64_t missing = found.missing(g, i); missing != 0)
      for (int k = 0; k < found.count; ++k) count += (missing & late_finders<N>::bit(k)) != 0 && found.finder[k] < i;
  return count;
}

template <std::size_t N, std::size_t E>
struct late_tables {
  fixed_array<ir::node, N> node{};
  fixed_array<node_id, E> edge{};
};

template <std::size_t N, std::size_t E>
[[nodiscard]] constexpr late_tables<N, E> add_late_waits(const graph_view& g, const late_finders<N>& found) {
  late_tables<N, E> made;
  if constexpr (N == heap_room) {
    make_room(g.size(), made.node);
    make_room(g.edges.size() + count_late_waits(g, found), made.edge);
  }
  std::int32_t next = 0;
  for (node_id i = 0; i < g.size(); ++i) {
    node& n = made.node[i] = g[i];
    const node_id* const from = g.edges.data() + n.first_edge;
    const int waits = n.inputs + n.controls, all = waits + n.colocated;
    n.first_edge = next;
    for (int k = 0; k < waits; ++k) made.edge[next++] = from[k];
    if (const std::uint64_t missing = found.missing(g, i); missing != 0)
      for (int k = 0; k < found.count; ++k) {
        if ((missing & found.bit(k)) == 0 || found.finder[k] >= i) continue;
        made.edge[next++] = found.finder[k];
        ++n.controls;
      }
    for (int k = waits; k < all; ++k) made.edge[next++] = from[k];
  }
  return made;
}

}  // namespace detail

/// A graph as it is planned: with the control dependencies that late extents ask for.
template <class Graph, bool Late = has_late(Graph::view)>
struct planned_graph : Graph {};

template <class Graph>
struct planned_graph<Graph, true> : Graph {
  static constexpr auto finders = detail::find_late<Graph::nodes>(Graph::view);
  static constexpr std::size_t edges = Graph::edges + detail::count_late_waits(Graph::view, finders);
  static constexpr auto with_waits = detail::add_late_waits<Graph::nodes, edges>(Graph::view, finders);
  static constexpr graph_view view{with_waits.node,        with_waits.edge,      Graph::view.attribute_pool,
                                   Graph::view.roots,      Graph::view.requests, Graph::view.loops,
                                   Graph::view.back_edges, Graph::view.loop_of};
};

}  // namespace tagma::ir
