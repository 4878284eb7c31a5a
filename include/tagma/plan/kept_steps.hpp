// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which steps of a plan are kept, for programs that keep values: they come first.

#include "tagma/plan/schedule.hpp"
#include "tagma/plan/transfer.hpp"

namespace tagma::plan {

// A step is kept if its result is frozen: then all that it reads is. So kept steps need no other, may come first, and
// then no block that is written later can lie where their results are.

/// The order of steps, those that are kept first.
/// @param frozen of each node of the graph, as `ir::find_frozen`
template <class Order>
[[nodiscard]] constexpr Order kept_first(const Order& order, array_view<const bool> frozen) {
  Order result = order;
  int count = 0;
  for (const bool kept : {true, false})
    for (int i = 0; i < order.count; ++i)
      if (frozen[order.order[i]] == kept) result.order[count++] = order.order[i];
  return result;
}
/// True for a step of a plan that is kept.
template <class Raw>
[[nodiscard]] constexpr bool is_kept(const Raw& p, std::int32_t s, array_view<const bool> frozen) {
  const plan_node& n = p.nodes[p.steps[s].node];
  return n.op != &ir::info<transfer> && n.op->has_step() && frozen[n.source];
}
/// How many steps there are up to the last that is kept.
template <class Raw>
[[nodiscard]] constexpr std::int32_t kept_count(const Raw& p, array_view<const bool> frozen) {
  std::int32_t n = 0;
  for (std::int32_t s = 0; s < p.sizes.steps; ++s)
    if (is_kept(p, s, frozen)) n = s + 1;
  return n;
}

}  // namespace tagma::plan
