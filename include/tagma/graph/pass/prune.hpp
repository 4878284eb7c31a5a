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
  fixed_array<need, N> needs{};
  const auto raise = [&needs](node_id id, need n) {
    need& known = needs[id];
    if (known < n) known = n;
  };
  for (const node_id f : fetches) raise(f, need::value);
  for (node_id i = g.size(); i-- > 0;) {
    const need n = needs[i];
    if (n == need::nothing) continue;
    int k = 0;
    for (const node_id in : g.inputs(i))
      raise(in, n == need::extents || g.info(i).ignores_elements(k++) ? need::extents : need::value);
    if (wants_value(n))
      for (const node_id c : g.controls(i)) raise(c, need::value);
  }
  return needs;
}

}  // namespace tagma::ir
