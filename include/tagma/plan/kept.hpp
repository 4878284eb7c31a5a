// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Plans in which steps that depend on frozen variables alone come first, and keep what they compute.

#include "tagma/graph/pass/rewrite.hpp"
#include "tagma/plan/kept_steps.hpp"
#include "tagma/plan/program.hpp"

namespace tagma::detail {

template <class Graph>
struct kept_steps {
  static constexpr auto frozen = ir::find_frozen<Graph::nodes>(Graph::view);

  template <class Order>
  [[nodiscard]] static constexpr Order first(const Order& order) {
    return plan::kept_first(order, frozen);
  }
  template <class Raw>
  [[nodiscard]] static constexpr bool is_kept(const Raw& p, std::int32_t s) {
    return plan::is_kept(p, s, frozen);
  }
  template <class Raw>
  [[nodiscard]] static constexpr std::int32_t count(const Raw& p) {
    return plan::kept_count(p, frozen);
  }
};

}  // namespace tagma::detail
