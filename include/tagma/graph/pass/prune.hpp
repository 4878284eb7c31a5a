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
  need* const needs = result.data();
  const node* const nodes = g.nodes.data();
  for (const node_id f : fetches) needs[f] = need::value;
  for (node_id i = g.size(); i-- > 0;) {
    const int own = static_cast<int>(needs[i]);
    if (own == 0) continue;
    const node& n = nodes[i];
    const node_id* const in = g.edges.data() + n.first_edge;
    const bool computed = own == static_cast<int>(need::value);
    const std::uint64_t ignored = n.op->info->shape_only;
    for (int k = 0; k < n.inputs; ++k)
      if (computed && (k >= 64 || ((ignored >> k) & 1) == 0))
        needs[in[k]] = need::value;
      else if (static_cast<int>(needs[in[k]]) == 0)
        needs[in[k]] = need::extents;
    if (computed)
      for (int k = n.inputs; k < n.inputs + n.controls; ++k) needs[in[k]] = need::value;
  }
  return result;
}

}  // namespace tagma::ir
