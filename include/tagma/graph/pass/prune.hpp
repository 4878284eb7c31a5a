// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a fetch needs, and nothing else.

#include "tagma/graph/build.hpp"

namespace tagma::ir {

/// How much of a node a run needs.
enum class need : std::uint8_t { nothing, extents, value };
[[nodiscard]] constexpr bool wants_value(need n) { return n == need::value; }

/// Marks what the fetched nodes need. A node whose elements nobody reads, only its extents, is not computed.
template <std::size_t N>
[[nodiscard]] constexpr fixed_array<need, N> prune(const graph_view& g, array_view<const node_id> fetches) {
  fixed_array<need, N> result{};
  if constexpr (N == heap_room) make_room(g.size(), result);
  need* const needs = result.data();
  const node* const nodes = g.nodes.data();
  for (const node_id f : fetches) needs[f] = need::value;
  for (bool again = true; again;) {
    for (node_id i = g.size(); i-- > 0;) {
      const int own = static_cast<int>(needs[i]);
      if (own == 0) continue;
      const node& n = nodes[i];
      const node_id* const in = g.edges.data() + n.first_edge;
      const bool computed = own == static_cast<int>(need::value);
      const std::uint64_t ignored = n.op->info->shape_only;
      for (int k = 0; k < n.inputs + (computed ? n.controls : 0); ++k) {
        const bool read = computed && (k >= 64 || k >= n.inputs || ((ignored >> k) & 1) == 0 || g.ends_by_value(in[k]));
        if (read || static_cast<int>(needs[in[k]]) == 0) needs[in[k]] = read ? need::value : need::extents;
      }
    }
    // The next value of what a loop carries may stand behind it.
    again = false;
    for (const back_edge& e : g.back_edges)
      if (g.is_condition(e.carried) && wants_value(needs[g.inputs(e.carried)[0]]) && !wants_value(needs[e.carried]))
        needs[e.carried] = need::value, again = true;
    for (const back_edge& e : g.back_edges)
      if (wants_value(needs[e.carried]) && !wants_value(needs[e.next])) needs[e.next] = need::value, again = true;
  }
  return result;
}

}  // namespace tagma::ir
