// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which version of a variable each node reads. A node reads the version after the last update that it is ordered
/// behind, through inputs or control dependencies; views of a variable and results of its updates are the variable
/// itself.

#include "tagma/graph/pass/prune.hpp"

namespace tagma::ir {

/// True for each node that is ordered behind `u`, itself included.
template <std::size_t N>
[[nodiscard]] constexpr fixed_array<bool, N> nodes_behind(const graph_view& g, node_id u) {
  fixed_array<bool, N> behind{};
  behind[u] = true;
  for (node_id i = u + 1; i < g.size(); ++i) {
    bool b = false;
    for (const node_id in : g.inputs(i)) b = b || behind[in];
    for (const node_id c : g.controls(i)) b = b || behind[c];
    behind[i] = b;
  }
  return behind;
}

/// Variables, the nodes that share their bytes, and their updates, in the order in which they run.
template <std::size_t N>
struct variable_versions {
  fixed_array<node_id, N> base{};          ///< the variable whose bytes a node shares, or `no_node`
  fixed_array<node_id, N> first_update{};  ///< of a variable, or `no_node`
  fixed_array<node_id, N> next_update{};   ///< of the same variable, after an update, or `no_node`

  [[nodiscard]] constexpr node_id base_of(node_id i) const { return base[i]; }
  [[nodiscard]] constexpr node_id first(node_id variable) const { return first_update[variable]; }
  [[nodiscard]] constexpr node_id next(node_id update) const { return next_update[update]; }

  /// True if node `i` reads elements of input `k` from a variable that a run updates.
  [[nodiscard]] constexpr bool reads_updated(const graph_view& g, node_id i, int k) const {
    if (g.info(i).ignores_elements(k) || g.info(i).is(op_kind::view)) return false;
    const node_id v = base_of(g.inputs(i)[k]);
    return v != no_node && first(v) != no_node && !(k == 0 && g.info(i).is(op_kind::update));
  }

  /// The first update of `variable` that must wait for a read by node `i`, or `no_node`.
  [[nodiscard]] constexpr node_id update_after(const graph_view& g, node_id variable, node_id i) const {
    node_id waiting = first(variable);
    for (node_id u = waiting; u != no_node && u <= i; u = next(u))
      if (nodes_behind<N>(g, u)[i]) waiting = next(u);
    return waiting;
  }
};

template <std::size_t N>
[[nodiscard]] constexpr variable_versions<N> find_versions(const graph_view& g, const fixed_array<need, N>& needs) {
  variable_versions<N> v;
  fixed_array<node_id, N> last{};
  for (std::size_t i = 0; i < N; ++i) v.base[i] = v.first_update[i] = v.next_update[i] = last[i] = no_node;
  for (node_id i = 0; i < g.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const op_info& info = g.info(i);
    if (info.is(op_kind::variable))
      v.base[at] = i;
    else if (info.shares_bytes())
      v.base[at] = v.base_of(g.inputs(i)[0]);
    if (!info.is(op_kind::update) || !wants_value(needs[at]) || v.base[at] == no_node) continue;
    const auto variable = static_cast<std::size_t>(v.base[at]);
    if (last[variable] == no_node)
      v.first_update[variable] = i;
    else
      v.next_update[last[variable]] = i;
    last[variable] = i;
  }
  return v;
}

}  // namespace tagma::ir
