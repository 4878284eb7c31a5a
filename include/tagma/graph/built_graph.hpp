// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A graph that was built, in more room than it needed, and the same in exactly as much.

#include "tagma/graph/flat_graph.hpp"
#include "tagma/graph/scopes.hpp"

namespace tagma::ir {

/// The node that a record became where it was reached.
struct node_of_record {
  const record* what = nullptr;
  node_id node = no_node;
};

/// Storage of a graph under construction and what became of it.
template <std::size_t Nodes, std::size_t Roots, bool Scoped = false, bool Looped = false>
struct built_graph {
  graph_storage<Nodes> storage;
  int nodes = 0;
  int edges = 0;
  int attributes = 0;
  fixed_array<node_id, Roots> roots{};
  build_status status;
  /// A record may be several nodes, if it is reached through several scopes.
  node_table<node_of_record, Nodes, 2> records{};
  int record_count = 0;
  int request_count = 0;
  device_spec requests[Scoped ? detail::scope_context<1>::most_requests : 1]{};
  int loop_count = 0;
  int back_edge_count = 0;
  loop_info loops[Looped ? most_loops : 1]{};
  std::conditional_t<Looped, node_table<back_edge, Nodes, 1, 2>, fixed_array<back_edge, 0>> back_edges{};
  /// The innermost loop of each node, or -1.
  std::conditional_t<Looped, node_table<std::int16_t, Nodes>, fixed_array<std::int16_t, 0>> loop_of{};

  /// How many nodes there may be.
  [[nodiscard]] constexpr std::size_t room() const {
    if constexpr (Nodes == heap_room)
      return storage.nodes.size();
    else
      return Nodes;
  }
  /// For a graph on the heap: room for so many nodes, a power of two, and the outputs. Throws `no_memory`.
  constexpr void allocate(std::size_t room, std::size_t outputs) {
    storage.allocate(room);
    make_room(2 * room, records);
    make_room(outputs, roots);
    if constexpr (Looped) make_room(room / 2, back_edges), make_room(room, loop_of);
  }
};

/// Which record became which node.
template <std::size_t Nodes, std::size_t Roots, bool Scoped, bool Looped>
[[nodiscard]] constexpr array_view<const node_of_record> nodes_of(
    const built_graph<Nodes, Roots, Scoped, Looped>& built) {
  return {built.records.data(), built.record_count};
}

/// Copies the used part of a built graph.
template <std::size_t N, std::size_t E, std::size_t A, std::size_t Q = 0, std::size_t L = 0, std::size_t B = 0,
          std::size_t Capacity, std::size_t Roots, bool Scoped, bool Looped>
[[nodiscard]] constexpr flat_graph<N, E, A, Roots, Q, L, B> trim(
    const built_graph<Capacity, Roots, Scoped, Looped>& built) {
  flat_graph<N, E, A, Roots, Q, L, B> flat;
  for (std::size_t i = 0; i < N; ++i) flat.nodes[i] = built.storage.nodes.values[i];
  for (std::size_t i = 0; i != E; ++i) flat.edges[i] = built.storage.edges.values[i];
  for (std::size_t i = 0; i != A; ++i) flat.attributes[i] = built.storage.attributes.values[i];
  for (std::size_t i = 0; i < Roots; ++i) flat.roots[i] = built.roots.values[i];
  const device_spec* request = built.requests;
  for (device_spec& r : flat.requests) r = *request++;
  if constexpr (L > 0) {
    for (std::size_t i = 0; i < L; ++i) flat.loops[i] = built.loops[i];
    for (std::size_t i = 0; i != B; ++i) flat.back_edges[i] = built.back_edges.values[i];
    for (std::size_t i = 0; i < N; ++i) flat.loop_of[i] = built.loop_of.values[i];
  }
  return flat;
}

}  // namespace tagma::ir
