// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which version of a variable each node reads. A node reads the version after the last update that it is ordered
/// behind, through inputs or control dependencies; views of a variable and results of its updates are the variable
/// itself.

#include "tagma/graph/pass/prune.hpp"

namespace tagma::ir {

/// True if node `i` is ordered behind node `u`, or is it. Linear in the nodes between them.
template <std::size_t N>
[[nodiscard]] constexpr bool is_behind(const graph_view& g, node_id u, node_id i) {
  if (i <= u) return i == u;
  fixed_array<bool, N> result{};  // of each node from `u` on
  if constexpr (N == heap_room) make_room(i - u + 1, result);
  bool* const behind = result.data();
  const node* const nodes = g.nodes.data();
  behind[0] = true;
  for (node_id j = u + 1; j <= i; ++j) {
    const node_id* const in = g.edges.data() + nodes[j].first_edge;
    const int count = nodes[j].inputs + nodes[j].controls;
    for (int k = 0; k < count; ++k)
      if (in[k] >= u && behind[in[k] - u]) behind[j - u] = true;
  }
  return behind[i - u];
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
    const node_id v = base.values[g.edges.data()[g.nodes.data()[i].first_edge + k]];
    if (v == no_node || first_update.values[v] == no_node) return false;
    const op_info& info = g.info(i);
    return !info.ignores_elements(k) && !info.is(op_kind::view) && !(k == 0 && info.is(op_kind::update));
  }

  /// The first update of `variable` that must wait for a read by node `i`, or `no_node`.
  [[nodiscard]] constexpr node_id update_after(const graph_view& g, node_id variable, node_id i) const {
    node_id waiting = first(variable);
    for (node_id u = waiting; u != no_node && u <= i; u = next(u))
      if (is_behind<N>(g, u, i)) waiting = next(u);
    return waiting;
  }
};

template <std::size_t N>
[[nodiscard]] constexpr variable_versions<N> find_versions(const graph_view& g, const fixed_array<need, N>& needs) {
  variable_versions<N> v;
  fixed_array<node_id, N> last_of{};
  if constexpr (N == heap_room) make_room(g.size(), v.base, v.first_update, v.next_update, last_of);
  node_id *const base = v.base.data(), *const first = v.first_update.data(), *const next = v.next_update.data();
  node_id* const last = last_of.data();
  const int size = g.size();
  for (int i = 0; i < size; ++i) base[i] = first[i] = next[i] = last[i] = no_node;
  for (node_id i = 0; i < size; ++i) {
    const op_info& info = g.info(i);
    const bool updates = info.is(op_kind::update);
    if (updates || info.is(op_kind::view))
      base[i] = base[g.edges.data()[g.nodes.data()[i].first_edge]];
    else if (info.is(op_kind::variable))
      base[i] = i;
    if (!updates || !wants_value(needs[i]) || base[i] == no_node) continue;
    node_id& before = last[base[i]];
    (before == no_node ? first[base[i]] : next[before]) = i;
    before = i;
  }
  return v;
}

}  // namespace tagma::ir
