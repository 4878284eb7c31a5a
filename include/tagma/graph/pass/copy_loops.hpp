// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Loops of a graph that is copied by a pass. Heads and what they iterate are copied as they are; a node is part of the
/// bodies that its new operands see. What a loop carries, and what it gathers, must be written in its body: where a
/// pass has put something else there, it is copied in each iteration.

#include "tagma/graph/pass/branches.hpp"

namespace tagma::ir::detail {

/// The part of `rewrite` that knows loops. There are none.
template <bool Looped, class Before>
class loop_copier {
 public:
  constexpr loop_copier(const Before&, graph&, const node_id*, std::size_t) {}
  [[nodiscard]] static constexpr const loop_table* table() { return nullptr; }
  static constexpr bool read_next_values(int*, const bool*) { return false; }
  static constexpr void choose_operands(node_id, node_id*) {}
  static constexpr void note(node_id, node_id) {}
  static constexpr void choose_next_values(const bool*) {}
  template <class Built>
  static constexpr void finish(Built&) {}
};

template <class Before>
class loop_copier<true, Before> {
 public:
  /// @param moved written by who copies: the node that each node of the graph before became
  /// @param room for nodes of the copy
  constexpr loop_copier(const Before& before, graph& g, const node_id* moved, std::size_t room)
      : before_(before),
        g_(g),
        moved_(moved),
        edge_of_(before.nodes),
        edge_is_read_(before.back_edge_count + 1),
        next_(before.back_edge_count + 1),
        is_next_(room),
        is_gathered_(room) {
    g.observe(&loops_);
    for (int e = 0; e < before.back_edge_count; ++e) {
      edge_of_[before.back_edges[e].carried] = e;
      next_[e] = no_node;
    }
    for (int& l : copy_of_) l = -1;
  }
  loop_copier(const loop_copier&) = delete;
  loop_copier& operator=(const loop_copier&) = delete;

  [[nodiscard]] constexpr const loop_table* table() const { return &loops_; }

  /// Counts the next values of what is carried and read as read.
  /// @param read how often each node is read; written
  /// @param seen nodes whose operands are counted
  /// @return true if there are operands to be counted
  constexpr bool read_next_values(int* read, const bool* seen) {
    bool more = false;
    for (int e = 0; e < before_.back_edge_count; ++e) {
      const auto [carried, next] = before_.back_edges[e];
      if (edge_is_read_[e]) continue;
      if (read[carried] == 0 && is_condition(carried) && read[input(carried, 0)] > 0) ++read[carried], more = true;
      if (read[carried] == 0) continue;
      edge_is_read_[e] = true;
      ++read[next];
      more = more || !seen[next];
    }
    return more;
  }

  /// Puts others in the place of operands that node `i` cannot have.
  /// @param list its operands in the copy; written
  constexpr void choose_operands(node_id i, node_id* list) {
    const op_rules* const op = before_.storage.nodes[i].op;
    if (op == &rules<loop_last>)
      list[2] = next_of(edge_of_[input(i, 0)]);
    else if (op == &rules<loop_stack>)
      list[0] = gathered(before_.storage.nodes[input(i, 0)].op->info->is_number(), list[0], loops_.of_head(list[1]));
    else if (op == &rules<loop_element> && is_of_variable(list[1]))
      list[1] = g_.emit_plain(rules<loop_copy>, {&list[1], 1}, {}, no_extras);  // updates write what others read
  }

  /// Node `i` became `id`.
  constexpr void note(node_id i, node_id id) {
    const op_info& info = g_.info(id);
    if (!info.stateful) return;
    if (info.is(op_kind::loop)) {
      for (int l = 0; l < before_.loop_count; ++l) {
        if (before_.loops[l].head != i) continue;
        copy_of_[l] = loops_.of_head(id);
        was_nested_[copy_of_[l]] = before_.loops[l].parent >= 0;
        loops_.set_rank(before_.loops[l].rank);
      }
    } else if (!info.unasked) {
      // It is done as often as before, even if its operands stay now.
      loop_table::mask all = 0;
      for (int l = before_.loop_of[i]; l >= 0; l = before_.loops[l].parent)
        if (copy_of_[l] >= 0) all |= loop_table::mask{1} << copy_of_[l];
      if (all != 0) loops_.bring_into(id, all);
    }
  }

  /// Finds the next values of all that is carried.
  constexpr void choose_next_values(const bool* seen) {
    for (int e = 0; e < before_.back_edge_count && !g_.overflow(); ++e)
      if (seen[before_.back_edges[e].carried]) next_of(e);
  }
  template <class Built>
  constexpr void finish(Built& built) const {
    if (loops_.edge_count() > static_cast<int>(built.back_edges.size()))
      built.status.stop(decltype(built.status.problem)::too_large);
    else
      write_loops(g_, loops_, built);
  }

 private:
  [[nodiscard]] constexpr node_id input(node_id i, int k) const {
    return before_.storage.edges[before_.storage.nodes[i].first_edge + k];
  }
  [[nodiscard]] constexpr bool is_condition(node_id carried) const {
    return before_.storage.nodes[input(carried, 0)].op == &rules<while_head> &&
           before_.storage.attributes[before_.storage.nodes[carried].first_attribute] == 0;
  }
  [[nodiscard]] constexpr bool is_of_variable(node_id id) const {
    while (g_.info(id).is(op_kind::view)) id = g_.input(id, 0);
    return g_.info(id).is(op_kind::variable);
  }

  /// The next value of a carried one: a node of its own, which the body writes.
  constexpr node_id next_of(int e) {
    if (next_[e] != no_node || g_.overflow()) return next_[e];
    const node_id carried = moved_[before_.back_edges[e].carried];
    const int l = loops_.of_head(g_.input(carried, 0));
    node_id next = moved_[before_.back_edges[e].next];
    if (!loops_.is_written(g_, l, next) || is_next_[next] || (was_nested_[l] && is_gathered_[next]))
      next = loops_.copy(g_, l, next);
    if (g_.overflow()) return next;
    is_next_[next] = true;
    loops_.add_edge({carried, next});
    return next_[e] = next;
  }
  /// What stands for `value` where loop `l` gathers it.
  /// @param was_number whether it was one before: then only its shape is read
  constexpr node_id gathered(bool was_number, node_id value, int l) {
    const op_info& info = g_.info(value);
    bool fits = false;
    if (info.is_number())
      fits = was_number;
    else if (is_next_[value] || g_[value].op == &rules<loop_carried>)
      fits = loops_.loop_of(value) == l && !was_nested_[l];
    else if (g_[value].op == &rules<loop_stack>)
      fits = loops_.loop_of(value) == l;
    else
      fits = loops_.is_written(g_, l, value);
    if (!fits) value = loops_.copy(g_, l, value);
    if (!g_.overflow()) is_gathered_[value] = true;
    return value;
  }

  const Before& before_;
  graph& g_;
  const node_id* moved_;
  loop_table loops_;
  scratch_array<int, 1> edge_of_;  // of each carried node before
  scratch_array<bool, 1> edge_is_read_;
  scratch_array<node_id, 1> next_;  // of each edge before, in the copy
  scratch_array<bool, 1> is_next_, is_gathered_;
  int copy_of_[most_loops]{};  // of each loop before
  bool was_nested_[most_loops]{};
};

}  // namespace tagma::ir::detail
