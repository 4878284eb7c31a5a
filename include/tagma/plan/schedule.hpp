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
  /// @param count the most items at once
  constexpr explicit ready_queue([[maybe_unused]] int count) {
    if constexpr (N == heap_room) make_room(count + 1, heap_);
  }
  constexpr void push(std::int32_t key) {
    std::int32_t* const heap = heap_.data();
    std::size_t i = size_++;
    for (; i > 0 && heap[(i - 1) / 2] > key; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = key;
  }
  constexpr std::int32_t pop() {
    std::int32_t* const heap = heap_.data();
    const std::int32_t top = heap[0], last = heap[--size_];
    std::size_t i = 0;
    for (std::size_t child = 1; child < size_; child = 2 * i + 1) {
      if (child + 1 < size_ && heap[child + 1] < heap[child]) ++child;
      if (last <= heap[child]) break;
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = last;
    return top;
  }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }

 private:
  fixed_array<std::int32_t, joined_room(N, 1)> heap_{};
  std::size_t size_ = 0;
};

/// Who must wait for whom, beside inputs and control dependencies: reads before updates, updates in their order.
struct wait {
  node_id before = 0;
  node_id after = 0;
};

/// Of `E` edges and as many waits.
[[nodiscard]] constexpr std::size_t room_for_waits(std::size_t e) { return e == heap_room ? e : 2 * e + 1; }

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
  if constexpr (E == heap_room) make_room(g.edges.size() + g.nodes.size(), list.waits);
  const auto versions = ir::find_versions<N>(g, needs);
  const int size = g.size();
  for (node_id i = 0; i < size; ++i) {
    if (!wants_value(needs.values[i])) continue;
    const ir::node& n = g.nodes.data()[i];
    for (int k = 0; k < n.inputs; ++k) {
      if (!versions.reads_updated(g, i, k)) continue;
      const node_id variable = versions.base_of(g.inputs(i)[k]);
      if (versions.base_of(i) == variable) continue;  // an update that reads what it writes
      const node_id update = versions.update_after(g, variable, i);
      if (update != ir::no_node) list.waits[list.count++] = {i, update};
    }
    if (n.op->info->is(op_kind::update) && versions.next(i) != ir::no_node)
      list.waits[list.count++] = {i, versions.next(i)};
  }
  return list;
}

}  // namespace detail

/// Orders the items that a run needs. `E` bounds the number of edges of the graph and of waits for variables.
template <std::size_t N, std::size_t E>
[[nodiscard]] constexpr schedule_result<N> schedule(const graph_view& g, const fixed_array<need, N>& needs,
                                                    const ir::fusion<N>& fusion) {
  const auto waits = detail::variable_waits<N, E>(g, needs);
  const node_id* const item = fusion.group.data();
  const ir::node* const nodes = g.nodes.data();
  const int size = g.size();

  // Items that wait for an item, as a list of its own.
  fixed_array<std::int32_t, N> pending_of{}, head_of{};
  fixed_array<std::int32_t, detail::room_for_waits(E)> next_of{};
  fixed_array<node_id, detail::room_for_waits(E)> target_of{};
  if constexpr (N == heap_room) {
    make_room(size, pending_of, head_of);
    make_room(g.edges.size() + waits.count + 1, next_of, target_of);
  }
  std::int32_t *const pending = pending_of.data(), *const head = head_of.data(), *const next = next_of.data();
  node_id* const target = target_of.data();
  std::int32_t edges = 1;
  const auto edge = [&](node_id before, node_id after) {
    ++pending[after];
    target[edges] = after;
    next[edges] = head[before];
    head[before] = edges++;
  };
  for (node_id i = 0; i < size; ++i) {
    if (!wants_value(needs.values[i])) continue;
    const ir::node& n = nodes[i];
    const node_id* const in = g.edges.data() + n.first_edge;
    const node_id after = item[i];
    for (int k = 0; k < n.inputs; ++k)
      if (item[in[k]] != after && !n.op->info->ignores_elements(k)) edge(item[in[k]], after);
    for (int k = n.inputs; k < n.inputs + n.controls; ++k) edge(item[in[k]], after);
  }
  for (std::size_t i = 0; i < waits.count; ++i) {
    const detail::wait& w = waits.waits.values[i];
    if (item[w.before] != item[w.after]) edge(item[w.before], item[w.after]);
  }

  schedule_result<N> result;
  if constexpr (N == heap_room) make_room(size, result.order);
  detail::ready_queue<N> ready(size);
  const std::int32_t ordinary = size;  // updates go first
  const auto push = [&](node_id i) { ready.push(nodes[i].op->info->is(op_kind::update) ? i : i + ordinary); };
  int items = 0;
  for (node_id i = 0; i < size; ++i)
    if (item[i] == i && wants_value(needs.values[i])) {
      ++items;
      if (pending[i] == 0) push(i);
    }
  while (!ready.empty()) {
    const std::int32_t k = ready.pop();
    const node_id i = k >= ordinary ? k - ordinary : k;
    result.order.values[result.count++] = i;
    for (std::int32_t e = head[i]; e != 0; e = next[e])
      if (--pending[target[e]] == 0) push(target[e]);
  }
  result.contradictory = result.count != items;
  return result;
}

}  // namespace tagma::plan
