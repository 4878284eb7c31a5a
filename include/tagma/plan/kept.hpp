// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Plans in which steps that depend on frozen variables alone come first, and keep what they compute.

#include "tagma/graph/pass/rewrite.hpp"
#include "tagma/plan/program.hpp"

namespace tagma::detail {

/// A step is kept if its result is frozen: then all that it reads is. So kept steps need no other, may come first, and
/// then no block that is written later can lie where their results are.
template <class Graph>
struct kept_steps {
  static constexpr auto frozen = ir::find_frozen<Graph::nodes>(Graph::view);

  template <class Order>
  [[nodiscard]] static constexpr Order first(const Order& order) {
    Order result = order;
    int count = 0;
    for (const bool kept : {true, false})
      for (int i = 0; i < order.count; ++i)
        if (frozen[order.order[i]] == kept) result.order[count++] = order.order[i];
    return result;
  }
  /// True for a step of a plan that is kept.
  template <class Raw>
  [[nodiscard]] static constexpr bool is_kept(const Raw& p, std::int32_t s) {
    const plan::plan_node& n = p.nodes[p.steps[s].node];
    return n.op != &ir::info<plan::transfer> && n.op->has_step() && frozen[n.source];
  }
  /// How many steps there are up to the last that is kept.
  template <class Raw>
  [[nodiscard]] static constexpr std::int32_t count(const Raw& p) {
    std::int32_t n = 0;
    for (std::int32_t s = 0; s < p.sizes.steps; ++s)
      if (is_kept(p, s)) n = s + 1;
    return n;
  }
};

}  // namespace tagma::detail
