// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Builds flat graphs when a program runs, in memory of the heap: what walks the records is what the compiler runs, and
/// so are the tables.

#include <iterator>

#include "tagma/base/error.hpp"
#include "tagma/base/heap_room.hpp"
#include "tagma/graph/build.hpp"
#include "tagma/graph/pass/rewrite.hpp"

namespace tagma::ir {

/// The most nodes that a process builds a graph of.
inline constexpr std::size_t most_heap_nodes = std::size_t{1} << 21;

/// A graph under construction in a process: what it was built into, and what passes make of it.
class heap_tables {
 public:
  /// A finished graph, for passes. Throws ResourceExhausted for one that a process would not have built, and
  /// `no_memory`.
  explicit heap_tables(const graph_view& g);

  [[nodiscard]] const build_status& status() const { return built_.status; }
  /// The finished tables, as the compiler has them; empty if there was a problem.
  [[nodiscard]] graph_view view() const {
    if (!status().good()) return {};
    graph_view g{{built_.storage.nodes.data(), built_.nodes},
                 {built_.storage.edges.data(), built_.edges},
                 {built_.storage.attributes.data(), built_.attributes},
                 built_.roots};
    if (scoped_) g.requests = {built_.requests, built_.request_count};
    if (looped_) {
      g.loops = {built_.loops, built_.loop_count};
      g.back_edges = {built_.back_edges.data(), built_.back_edge_count};
    }
    if (built_.loop_count > 0) g.loop_of = {built_.loop_of.data(), built_.nodes};
    return g;
  }
  /// Which record became which node, until a pass has rewritten the graph.
  [[nodiscard]] array_view<const node_of_record> records() const { return nodes_of(built_); }

  /// Lets a pass rewrite the graph; nullptr: copies it without nodes that nobody reads. Throws `no_memory`.
  void rewrite(void (*pass)(rewriter&));

 protected:
  using graph_on_heap = built_graph<heap_room, heap_room, true, true>;

  heap_tables() = default;

  /// What `build(room)` makes, with more and more room for nodes until that is enough.
  /// @param expected a power of two
  template <class Build>
  [[nodiscard]] static graph_on_heap in_enough_room(std::size_t expected, const Build& build) {
    for (std::size_t room = expected;; room *= 2) {
      graph_on_heap built = build(room);
      if (differ(built.status.problem, build_problem::too_large) || room >= most_heap_nodes) return built;
    }
  }

  graph_on_heap built_;
  bool scoped_ = false, looped_ = false;  ///< it has tables of scopes, and of loops
};

/// The graph behind some outputs, built by a process.
class heap_build : public heap_tables {
 public:
  /// Throws `no_memory`.
  /// @param roots as they are placed; @param named the same as their handles name them
  heap_build(array_view<const record* const> roots, array_view<const record* const> named);

  /// The records that take a number of the program, in the order of the numbers.
  [[nodiscard]] array_view<const record* const> owners() const { return survey_.owners.view(); }
  /// How the numbers are found that the outputs carry.
  [[nodiscard]] value_places places() const {
    return {survey_.places.view(), survey_.parts.view(), root_place_, survey_.found.values};
  }

 private:
  detail::surveyor survey_;
  std::int32_t root_place_ = -1;
};

}  // namespace tagma::ir

#ifndef TAGMA_COMPILED
#include "tagma/graph/heap_build.ipp"
#endif
