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
  explicit heap_tables(const graph_view& g) {
    const auto fits = [&](std::size_t room) {
      return g.nodes.size() <= room && g.edges.size() <= 4 * room && g.attribute_pool.size() <= 4 * room &&
             g.back_edges.size() <= room / 2;
    };
    std::size_t room = 64;
    while (!fits(room) && room < most_heap_nodes) room *= 2;
    if (!fits(room) || g.requests.size() > std::size(built_.requests) || g.loops.size() > std::size(built_.loops))
      fail(status_code::resource_exhausted,
           {"passes: a graph of ", g.nodes.size(), " nodes, ", g.requests.size(), " devices and ", g.loops.size(),
            " loops is larger than a process builds"});
    built_.allocate(room, g.roots.size());
    const auto copy = [](auto* to, const auto& from) {
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
      return static_cast<int>(from.size());
    };
    built_.nodes = copy(built_.storage.nodes.data(), g.nodes);
    built_.edges = copy(built_.storage.edges.data(), g.edges);
    built_.attributes = copy(built_.storage.attributes.data(), g.attribute_pool);
    copy(built_.roots.data(), g.roots);
    built_.request_count = copy(built_.requests, g.requests);
    built_.loop_count = copy(built_.loops, g.loops);
    built_.back_edge_count = copy(built_.back_edges.data(), g.back_edges);
    copy(built_.loop_of.data(), g.loop_of);
    scoped_ = g.requests.size() > 0, looped_ = g.loops.size() > 0;
  }

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
  void rewrite(void (*pass)(rewriter&)) {
    std::size_t expected = 64;
    while (expected < static_cast<std::size_t>(built_.nodes) + static_cast<std::size_t>(built_.nodes) / 4)
      expected *= 2;
    built_ = in_enough_room(expected, [&](std::size_t room) {
      return ir::rewrite<heap_room, heap_room, heap_room, true, true>(built_, pass, room);
    });
  }

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
  heap_build(array_view<const record* const> roots, array_view<const record* const> named) : survey_(roots.size()) {
    for (const record* r : roots) survey_.visit(*r);
    for (const record* r : named) survey_.visit(*r);
    root_place_ = survey_.join(named);
    scoped_ = survey_.found.scoped, looped_ = survey_.found.looped;
    fixed_array<const record*, heap_room> outputs;
    make_room(roots.size(), outputs);
    for (std::size_t i = 0; i < roots.size(); ++i) outputs[i] = roots[i];
    built_ = in_enough_room(expected_nodes(survey_.found, most_heap_nodes), [&](std::size_t room) {
      return build_graph<heap_room, heap_room, true, true>(outputs, survey_.owners.view(), survey_.gradients.view(),
                                                           room);
    });
  }

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
