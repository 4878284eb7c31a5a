// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The order of a run. A fused loop counts as one item. An update of a variable runs as soon as it can, after every
/// read that is not ordered behind it; everything else runs in the order of the graph.

#include "tagma/graph/pass/fuse.hpp"
#include "tagma/plan/plan.hpp"

namespace tagma::plan {

using ir::graph_view;
using ir::need;
using ir::op_kind;

template <std::size_t N>
struct schedule_result {
  fixed_array<node_id, N> order{};
  int count = 0;
  bool contradictory = false;  ///< reads and updates wait for one another
};

namespace detail {

/// A smallest-first queue of items.
template <std::size_t N>
class ready_queue {
 public:
  constexpr void push(std::int32_t key) {
    std::size_t i = size_++;
    for (; i > 0 && heap_[(i - 1) / 2] > key; i = (i - 1) / 2) heap_[i] = heap_[(i - 1) / 2];
    heap_[i] = key;
  }
  constexpr std::int32_t pop() {
    const std::int32_t top = heap_[0], last = heap_[--size_];
    std::size_t i = 0;
    for (std::size_t child = 1; child < size_; child = 2 * i + 1) {
      if (child + 1 < size_ && heap_[child + 1] < heap_[child]) ++child;
      if (last <= heap_[child]) break;
      heap_[i] = heap_[child];
      i = child;
    }
    heap_[i] = last;
    return top;
  }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }

 private:
  fixed_array<std::int32_t, N + 1> heap_{};
  std::size_t size_ = 0;
};

/// Who must wait for whom, beside inputs and control dependencies: reads before updates, updates in their order.
struct wait {
  node_id before = 0;
  node_id after = 0;
};

template <std::size_t N, std::size_t E>
struct wait_list {
  fixed_array<wait, E> waits{};
  std::size_t count = 0;
};

/// Each read of a variable before the first update that it is not ordered behind, and updates in the order of the
/// graph.
template <std::size_t N, std::size_t E>
constexpr wait_list<N, E> variable_waits(const graph_view& g, const fixed_array<need, N>& needs) {
  wait_list<N, E> list;
  const auto versions = ir::find_versions<N>(g, needs);
  for (node_id i = 0; i < g.size(); ++i) {
    if (!wants_value(needs[i])) continue;
    for (int k = 0; k < g[i].inputs; ++k) {
      if (!versions.reads_updated(g, i, k)) continue;
      const node_id variable = versions.base_of(g.inputs(i)[k]);
      if (versions.base_of(i) == variable) continue;  // an update that reads what it writes
      const node_id update = versions.update_after(g, variable, i);
      if (update != ir::no_node) list.waits[list.count++] = {i, update};
    }
    if (g.info(i).is(op_kind::update) && versions.next(i) != ir::no_node)
      list.waits[list.count++] = {i, versions.next(i)};
  }
  return list;
}

}  // namespace detail

/// Orders the items that a run needs. `E` bounds the number of edges of the graph and of waits for variables.
template <std::size_t N, std::size_t E>
[[nodiscard]] constexpr schedule_result<N> schedule(const graph_view& g, const fixed_array<need, N>& needs,
                                                    const ir::fusion<N>& fusion) {
  const auto item = [&](node_id i) { return fusion.group[i]; };
  const auto waits = detail::variable_waits<N, E>(g, needs);

  const auto for_each_edge = [&](auto edge) {
    for (node_id i = 0; i < g.size(); ++i) {
      if (!wants_value(needs[i])) continue;
      int k = 0;
      for (const node_id in : g.inputs(i))
        if (!g.info(i).ignores_elements(k++) && item(in) != item(i)) edge(item(in), item(i));
      for (const node_id c : g.controls(i)) edge(item(c), item(i));
    }
    for (std::size_t i = 0; i < waits.count; ++i)
      if (item(waits.waits[i].before) != item(waits.waits[i].after))
        edge(item(waits.waits[i].before), item(waits.waits[i].after));
  };

  fixed_array<std::int32_t, N> pending{}, head{};
  fixed_array<std::int32_t, 2 * E + 1> next{};
  fixed_array<node_id, 2 * E + 1> target{};
  std::int32_t edges = 1;
  for_each_edge([&](node_id before, node_id after) {
    ++pending[after];
    target[edges] = after;
    next[edges] = head[before];
    head[before] = edges++;
  });

  schedule_result<N> result;
  detail::ready_queue<N> ready;
  const auto key = [&](node_id i) { return g.info(i).is(op_kind::update) ? i : i + static_cast<std::int32_t>(N); };
  int items = 0;
  for (node_id i = 0; i < g.size(); ++i)
    if (wants_value(needs[i]) && item(i) == i) {
      ++items;
      if (pending[i] == 0) ready.push(key(i));
    }
  while (!ready.empty()) {
    const std::int32_t k = ready.pop();
    const node_id i = k >= static_cast<std::int32_t>(N) ? k - static_cast<std::int32_t>(N) : k;
    result.order[result.count++] = i;
    for (std::int32_t e = head[i]; e != 0; e = next[e])
      if (--pending[target[e]] == 0) ready.push(key(target[e]));
  }
  result.contradictory = result.count != items;
  return result;
}

}  // namespace tagma::plan
