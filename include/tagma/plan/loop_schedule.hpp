// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The order of a run with loops. The body of a loop is one item of what is around it, so that its steps stand
/// together.

#include "tagma/plan/schedule.hpp"

namespace tagma::plan {

namespace detail {

/// Orders what is around each loop and each body by itself, as `schedule` does.
template <std::size_t N, std::size_t E>
class loop_scheduler {
 public:
  constexpr loop_scheduler(const graph_view& g, const fixed_array<need, N>& needs, const ir::fusion<N>& fusion)
      : g_(g), needs_(needs), item_(fusion.group.data()) {
    const auto waits = variable_waits<N, E>(g, needs);
    if constexpr (N == heap_room) {
      make_room(g.size(), live_, pending_, head_, result_.order);
      make_room(g.edges.size() + waits.count + 1, next_, target_);
    }
    for (node_id i = 0; i < g.size(); ++i) {
      if (!wants_value(needs.values[i])) continue;
      for (int l = g.loop_of[i]; l >= 0; l = g.loops[l].parent) live_[g.loops[l].head] = true;
    }
    for (node_id i = 0; i < g.size(); ++i) {
      if (!wants_value(needs.values[i]) && !live_.values[i]) continue;
      const ir::node& n = g.nodes.data()[i];
      const node_id* const in = g.edges.data() + n.first_edge;
      for (int k = 0; k < n.inputs + n.controls; ++k)
        if (k >= n.inputs || !n.op->info->ignores_elements(k)) add(item_[in[k]], item_[i]);
    }
    for (std::size_t i = 0; i < waits.count; ++i)
      add(item_[waits.waits.values[i].before], item_[waits.waits.values[i].after]);
  }

  constexpr schedule_result<N> run() {
    int items = 0;
    for (node_id i = 0; i < g_.size(); ++i) items += is_item(i);
    order(-1);
    result_.contradictory = result_.count + heads_ != items;
    return result_;
  }

 private:
  [[nodiscard]] constexpr bool is_item(node_id i) const {
    return live_.values[i] || (item_[i] == i && wants_value(needs_.values[i]));
  }
  [[nodiscard]] constexpr int depth(int l) const {
    int d = 0;
    for (; l >= 0; l = g_.loops[l].parent) ++d;
    return d;
  }
  /// One item waits for another, or the loop of one for that of the other.
  constexpr void add(node_id before, node_id after) {
    int a = g_.loop_of[before], b = g_.loop_of[after];
    while (a != b) {
      const bool inner = depth(a) >= depth(b);
      int& l = inner ? a : b;
      (inner ? before : after) = g_.loops[l].head;
      l = g_.loops[l].parent;
    }
    if (before == after) return;
    ++pending_.values[after];
    target_.values[edges_] = after;
    next_.values[edges_] = head_.values[before];
    head_.values[before] = edges_++;
  }
  constexpr void order(int loop) {
    ready_queue<N> ready(g_.size());
    const std::int32_t ordinary = g_.size();  // updates go first
    const auto push = [&](node_id i) { ready.push(g_.info(i).is(op_kind::update) ? i : i + ordinary); };
    for (node_id i = 0; i < g_.size(); ++i)
      if (g_.loop_of[i] == loop && is_item(i) && pending_.values[i] == 0) push(i);
    while (!ready.empty()) {
      const std::int32_t k = ready.pop();
      const node_id i = k >= ordinary ? k - ordinary : k;
      if (live_.values[i]) {
        ++heads_;
        for (int l = 0; l < static_cast<int>(g_.loops.size()); ++l)
          if (g_.loops[l].head == i) order(l);
      } else {
        result_.order.values[result_.count++] = i;
      }
      for (std::int32_t e = head_.values[i]; e != 0; e = next_.values[e])
        if (--pending_.values[target_.values[e]] == 0) push(target_.values[e]);
    }
  }

  const graph_view& g_;
  const fixed_array<need, N>& needs_;
  const node_id* item_;
  fixed_array<bool, N> live_{};  // heads of loops of which something is done
  fixed_array<std::int32_t, N> pending_{}, head_{};
  fixed_array<std::int32_t, room_for_waits(E)> next_{};
  fixed_array<node_id, room_for_waits(E)> target_{};
  std::int32_t edges_ = 1;
  int heads_ = 0;
  schedule_result<N> result_;
};

}  // namespace detail

/// `schedule` for a graph with loops.
template <std::size_t N, std::size_t E>
[[nodiscard]] constexpr schedule_result<N> schedule_loops(const graph_view& g, const fixed_array<need, N>& needs,
                                                          const ir::fusion<N>& fusion) {
  return detail::loop_scheduler<N, E>(g, needs, fusion).run();
}

}  // namespace tagma::plan
