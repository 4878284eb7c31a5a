// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The parts of a program that was cut: each is a program of its own, and a run of the whole is a run of some outputs
/// of each.

#include <set>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/exchange.hpp"
#include "tagma/expr/placeholder.hpp"
#include "tagma/graph/cut.hpp"
#include "tagma/graph/pass/prune.hpp"
#include "tagma/plan/any_program.hpp"
#include "tagma/plan/heap_plan.hpp"

namespace tagma {

namespace detail {

/// A part, as a run with some feeds sees it.
struct fed_part {
  fed_part(const ir::graph_part& part, array_view<const ir::node_id> fed)
      : graph(part.graph.view()), planned((feed(fed), graph.view())) {}

  void feed(array_view<const ir::node_id> fed) {
    for (const ir::node_id i : fed) graph.feed(i, ir::rules<op::placeholder>);
  }
  /// The edges that these outputs need.
  [[nodiscard]] std::vector<std::int32_t> edges_of(const std::set<int>& outputs) const {
    const ir::graph_view g = planned.view();
    std::vector<ir::node_id> roots;
    for (const int i : outputs) roots.push_back(g.roots[i]);
    const auto needs = ir::prune<heap_room>(g, roots);
    std::vector<std::int32_t> edges;
    for (ir::node_id i = 0; i < g.size(); ++i)
      if (wants_value(needs[i]) && (g[i].op == &ir::rules<op::receive> || g[i].op == &ir::rules<op::receive_open>))
        edges.push_back(static_cast<std::int32_t>(g.attributes(i)[0]));
    return edges;
  }

  ir::heap_graph graph;
  plan::planned_heap_graph planned;
};

}  // namespace detail

/// A part of a program as a program, with the numbers that its nodes take. Its outputs are called "output_3" for output
/// 3 of the whole, and "edge_5" for what it hands over as edge 5.
[[nodiscard]] any_program program_of_part(const any_program& whole, const ir::graph_part& part);

/// What a run of some outputs of the whole asks of each part: outputs by their positions there, in their order. What
/// another part reads is among them, and nothing that nobody reads.
/// @param outputs of the whole, by their positions
/// @param fed of each part, nodes that are fed instead of computed; empty: none
[[nodiscard]] std::vector<std::vector<int>> outputs_of_parts(const ir::cut_graph& cut, array_view<const int> outputs,
                                                             array_view<const std::vector<ir::node_id>> fed = {});

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/plan/parts.ipp"
#endif
