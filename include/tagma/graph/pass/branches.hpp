// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The loops of a finished graph. What only one branch reads is done there, so not at all where another is taken.

#include "tagma/base/config.hpp"
#include "tagma/graph/keep.hpp"
#include "tagma/ir/loops.hpp"

namespace tagma::ir {

/// True for the head of a branch: it is done once or never.
template <class Graph>
[[nodiscard]] constexpr bool is_branch(const Graph& g, node_id head) {
  return g[head].op == &rules<times_head> && g.attributes(head)[0] == 1;
}

/// @param loop_of of each node of the graph the innermost loop, or -1; written
template <class Graph>
TAGMA_COLD constexpr void bring_into_branches(const Graph& g, const loop_table& loops, array_view<const node_id> roots,
                                              array_view<std::int16_t> loop_of) {
  bool any = false;
  for (int l = 0; l < loops.count(); ++l) any = any || is_branch(g, loops.head(l));
  if (!any) return;
  constexpr std::int16_t unread = -2, elsewhere = -3;
  scratch_array<std::int16_t, 256> reader(loop_of.size());
  for (std::size_t i = 0; i < loop_of.size(); ++i) reader[i] = unread;
  const auto read = [&](node_id id, std::int16_t by) {
    reader[id] = reader[id] == unread || reader[id] == by ? by : elsewhere;
  };
  for (const node_id root : roots) read(root, elsewhere);
  for (int e = 0; e < loops.edge_count(); ++e) read(loops.edge(e).next, elsewhere);
  for (node_id i = g.size(); i-- > 0;) {
    const op_info& info = g.info(i);
    const bool result = info.is(op_kind::output);  // one of several
    const bool moves = (info.has_step() || info.is(op_kind::view) || result) && !info.stateful &&
                       !info.is(op_kind::update) && info.key != &key<keep> && g.controls(i).empty();
    if (moves && reader[i] >= 0 && loop_of[i] == loops.parent(reader[i]) && is_branch(g, loops.head(reader[i])))
      loop_of[i] = reader[i];
    if (info.outputs > 0) {  // its results are where it is: in the branch only if all are that something reads
      for (node_id of = i + 1; of < g.size(); ++of)
        if (g.info(of).is(op_kind::output) && g.input(of, 0) == i) loop_of[of] = loop_of[i];
    }
    if (result && reader[i] == unread) continue;
    const bool ends = info.is(op_kind::loop) || info.is(op_kind::iterations);
    for (const node_id in : g.inputs(i)) read(in, ends ? elsewhere : loop_of[i]);
    for (const node_id in : g.controls(i)) read(in, elsewhere);
  }
}

/// Writes which loops a finished graph has, and which nodes are the body of which.
/// @param built has the outputs; written
template <class Built>
constexpr void write_loops(const graph& g, const loop_table& loops, Built& built) {
  built.loop_count = loops.count();
  for (int l = 0; l < loops.count(); ++l)
    built.loops[l] = {loops.head(l), static_cast<std::int16_t>(loops.parent(l)),
                      static_cast<std::int16_t>(loops.rank(l))};
  built.back_edge_count = loops.edge_count();
  for (int i = 0; i < loops.edge_count(); ++i) built.back_edges[i] = loops.edge(i);
  for (node_id i = 0; i < g.size(); ++i)
    built.loop_of[i] =
        static_cast<std::int16_t>(g.info(i).is(op_kind::loop) ? loops.parent(loops.of_head(i)) : loops.loop_of(i));
  // A carried value begins anew whenever its loop does, whatever it begins with.
  for (int i = 0; i < loops.edge_count(); ++i) {
    const node_id carried = loops.edge(i).carried;
    if (g[carried].op == &rules<loop_result>) continue;
    built.loop_of[g.input(carried, 1)] = static_cast<std::int16_t>(loops.parent(loops.of_head(g.input(carried, 0))));
  }
  bring_into_branches(g, loops, built.roots, {&built.loop_of[0], g.size()});
}

}  // namespace tagma::ir
