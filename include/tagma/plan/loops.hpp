// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Loops of a plan: which steps are the body of which, and where in memory each iteration finds what it reads and
/// writes. An element is a row of its sequence, what is gathered is written into its row, and a carried value is in two
/// rows by turns, or in a row for each iteration where all are wanted.

#include <concepts>

#include "tagma/expr/op/row.hpp"
#include "tagma/graph/pass/late.hpp"
#include "tagma/ir/loops.hpp"
#include "tagma/plan/transfer.hpp"

namespace tagma::plan {

namespace detail {

/// What `assign_storage` asks about loops.
template <std::size_t N, std::size_t L>
class loop_storage {
 public:
  static constexpr bool any = true;

  /// @param tables without storage
  template <class Tables>
  constexpr loop_storage(const Tables& p, const graph_view& g, array_view<const need> needs)
      : count_(g.loops.size()), nodes_(p.nodes.size()) {
    apart_ = ir::has_late(g);
    if constexpr (N == heap_room) {
      make_room(nodes_, group_, plan_node_of_, start_, carried_in_, rep_first_, home_, step_loop_, kind_, wanted_,
                history_, begin_of_, next_begin_, copy_of_, next_copy_);
      make_room(count_, parent_, first_, end_, heads_, conditions_, ends_);
    }
    for (std::size_t l = 0; l < count_; ++l) parent_[l] = g.loops[l].parent, first_[l] = -1;
    const node_id count = p.sizes.nodes;
    for (std::size_t i = 0; i < nodes_; ++i) group_[i] = plan_node_of_[i] = rep_first_[i] = start_[i] = ir::no_node;
    for (node_id i = 0; i < count; ++i) {
      const std::int32_t source = p.nodes.values[i].source;
      home_[i] = g.loop_of[source];
      wanted_[i] = wants_value(needs[source]);
      if (p.nodes.values[i].op != &ir::info<transfer>) plan_node_of_[source] = i;
    }
    for (std::int32_t s = 0; s < p.sizes.steps; ++s) {
      const std::int16_t of = home_[p.steps.values[s].node];
      step_loop_[s] = of;
      for (std::int16_t l = of; l >= 0; l = parent_[l]) {
        if (first_[l] < 0) first_[l] = s;
        end_[l] = s + 1;
      }
    }
    for (std::size_t l = 0; l < count_; ++l) {
      const node_id head = plan_node_of_[g.loops[l].head];
      if (first_[l] >= 0) heads_[l] = head;
      ends_[l] = g[g.loops[l].head].op == &ir::rules<ir::loop_head>    ? loop_end::counted
                 : g[g.loops[l].head].op == &ir::rules<ir::times_head> ? loop_end::by_number
                                                                       : loop_end::by_test;
      conditions_[l] = ends_[l] == loop_end::by_number ? plan_node_of_[g.inputs(g.loops[l].head)[0]] : ir::no_node;
    }
    for (const ir::back_edge& e : g.back_edges)
      if (g.is_condition(e.carried))
        for (std::size_t l = 0; l < count_; ++l)
          if (g.loops[l].head == g.inputs(e.carried)[0]) conditions_[l] = plan_node_of_[e.carried];
    fixed_array<node_id, N> next_of{};  // of what is carried, by its number in the graph
    if constexpr (N == heap_room) make_room(nodes_, next_of);
    for (std::size_t i = 0; i < nodes_; ++i) next_of[i] = ir::no_node;
    for (const ir::back_edge& e : g.back_edges) next_of[e.carried] = e.next;
    // Groups: nodes that have one block. A carried value stands for all of it, a stack for its rows.
    for (node_id i = 0; i < count; ++i) {
      const plan_node& n = p.nodes.values[i];
      if (!wanted_[i] || (n.op != &ir::info<ir::loop_carried> && n.op != &ir::info<ir::loop_result>)) continue;
      group_[i] = i;
      kind_[i] = role::carried;
      if (n.op == &ir::info<ir::loop_carried>) {
        start_[i] = input(p, n, 1);
        if (!apart_) {
          group_[start_[i]] = i;
          kind_[start_[i]] = role::start;
        }
        carried_in_[i] = g.loop_of[n.source];
      }
      home_[i] = parent_[g.loop_of[n.source]];
      if (next_of[n.source] == ir::no_node) continue;
      const node_id next = plan_node_of_[next_of[n.source]];
      group_[next] = i;
      kind_[next] = role::next;
    }
    for (node_id i = 0; i < count; ++i) {
      const plan_node& n = p.nodes.values[i];
      if (!wanted_[i] || !n.op->is(op_kind::iterations)) continue;
      const node_id of = input(p, n, 0);
      if (n.op == &ir::info<ir::loop_last>) {
        group_[i] = of;
        kind_[i] = role::last;
      } else if (kind_[of] == role::carried || kind_[of] == role::next) {
        group_[i] = group_[of];
        history_[group_[of]] = true;
        kind_[i] = kind_[of] == role::carried ? role::rows_carried : role::rows_next;
      } else {
        if (group_[i] == ir::no_node) group_[i] = i;
        group_[of] = i;
        kind_[of] = kind_[of] == role::none ? role::row : kind_[of];
        if (kind_[i] == role::none) kind_[i] = role::stack;
      }
    }
    // The block of each group begins with the first step that writes into it, or with the loop around that.
    for (std::int32_t s = 0; s < p.sizes.steps; ++s) {
      const plan_step& step = p.steps.values[s];
      note_first(step.node, s);
      for (int k = step.first_operand + step.operands; k < step.first_operand + step.operands + step.outputs; ++k)
        if (p.operands.values[k] != ir::no_node) note_first(p.operands.values[k], s);
    }
    // Lists of what is asked for step by step.
    for (std::size_t s = 0; s < nodes_; ++s) begin_of_[s] = copy_of_[s] = ir::no_node;
    for (node_id i = count; i-- > 0;) {
      if (rep_first_[i] >= 0) link(begin_of_[rep_first_[i]], next_begin_[i], i);
      if (apart_ && start_[i] != ir::no_node && first_[carried_in_[i]] >= 0)
        link(copy_of_[first_[carried_in_[i]]], next_copy_[i], i);
    }
  }

  enum class role : std::uint8_t { none, start, carried, next, last, rows_carried, rows_next, stack, row };

  [[nodiscard]] constexpr node_id owner(node_id i) const {
    node_id r = group_[i];
    while (r != ir::no_node && group_[r] != r && group_[r] != ir::no_node) r = group_[r];
    return r;
  }
  [[nodiscard]] constexpr role role_of(node_id i) const { return kind_[i]; }
  [[nodiscard]] constexpr node_id group(node_id i) const { return group_[i]; }
  [[nodiscard]] constexpr bool has_history(node_id carried) const { return history_[carried]; }
  [[nodiscard]] constexpr bool wanted(node_id i) const { return wanted_[i]; }
  /// Calls `begin(node)` for those whose blocks begin with step `s`.
  template <class Begin>
  constexpr void begin_with(std::int32_t s, const Begin& begin) const {
    for (node_id i = begin_of_[s]; i != ir::no_node; i = next_begin_[i]) begin(i);
  }
  /// The last step that keeps a tensor alive which step `s` uses.
  [[nodiscard]] constexpr std::int32_t last_use(node_id owner, std::int32_t s) const {
    const int l = loop_below(owner, s);
    return l < 0 ? s : end_[l] - 1;
  }
  /// True if the step and the tensor are done equally often.
  [[nodiscard]] constexpr bool share_iterations(node_id owner, std::int32_t s) const {
    return home_[owner] == step_loop_[s];
  }
  [[nodiscard]] constexpr std::int32_t first_step(std::size_t l) const { return first_[l]; }
  [[nodiscard]] constexpr std::int32_t end_step(std::size_t l) const { return end_[l]; }
  [[nodiscard]] constexpr std::int16_t parent(std::size_t l) const { return parent_[l]; }
  [[nodiscard]] constexpr node_id head(std::integral auto l) const { return heads_[l]; }
  [[nodiscard]] constexpr loop_end ends(std::size_t l) const { return ends_[l]; }
  [[nodiscard]] constexpr node_id condition(std::size_t l) const { return conditions_[l]; }
  /// What a carried value begins with, where that is copied; else no_node.
  [[nodiscard]] constexpr node_id start_of(node_id carried) const { return apart_ ? start_[carried] : ir::no_node; }
  /// Calls `use(node)` for what is read in front of the loops that begin with step `s`.
  template <class Use>
  constexpr void read_in_front(std::int32_t s, const Use& use) const {
    for (std::size_t l = 0; l < count_; ++l)
      if (first_[l] == s && ends_[l] == loop_end::by_number) use(conditions_[l]);
    for (node_id i = copy_of_[s]; i != ir::no_node; i = next_copy_[i]) use(start_[i]);
  }

 private:
  static constexpr void link(node_id& first, node_id& next, node_id i) {
    next = first;
    first = i;
  }
  template <class Tables>
  static constexpr node_id input(const Tables& p, const plan_node& n, int k) {
    return p.inputs.values[n.first_input + k];
  }
  /// The outermost loop around step `s` that the tensor is not part of; -1 if there is none.
  [[nodiscard]] constexpr int loop_below(node_id owner, std::int32_t s) const {
    int below = -1;
    for (int l = step_loop_[s]; l >= 0 && l != home_[owner]; l = parent_[l]) below = l;
    return below;
  }
  constexpr void note_first(node_id i, std::int32_t s) {
    const node_id o = owner(i);
    if (o == ir::no_node || rep_first_[o] >= 0) return;
    const int l = loop_below(o, s);
    rep_first_[o] = l < 0 ? s : first_[l];
  }

  // Where extents are found late, nobody knows where a row will be before the loop is come to: values begin elsewhere,
  // and are copied.
  bool apart_ = false;
  std::size_t count_, nodes_;
  fixed_array<node_id, N> group_{}, plan_node_of_{}, start_{};
  fixed_array<std::int16_t, N> carried_in_{};
  fixed_array<std::int32_t, N> rep_first_{};
  fixed_array<node_id, N> begin_of_{}, next_begin_{};  // of each step, those whose blocks begin with it
  fixed_array<node_id, N> copy_of_{}, next_copy_{};    // of each step, those whose starts are copied in front of it
  fixed_array<std::int16_t, N> home_{}, step_loop_{};
  fixed_array<role, N> kind_{};
  fixed_array<bool, N> wanted_{}, history_{};
  fixed_array<std::int16_t, L> parent_{};
  fixed_array<std::int32_t, L> first_{}, end_{};
  fixed_array<node_id, L> heads_{}, conditions_{};
  fixed_array<loop_end, L> ends_{};
};

}  // namespace detail

/// A plan with loops.
/// @tparam M rows beside one for each node and each loop: `more_rows`
template <std::size_t N, std::size_t E, std::size_t A, std::size_t F, std::size_t L, std::size_t M>
struct looped_plan : raw_plan<N, E, A, F> {
  fixed_array<plan_loop, L> loops{};
  fixed_array<plan_row, joined_room(joined_room(N, L), M)> rows{};
  std::int32_t loop_count = 0, row_count = 0;
};

/// The places in lists of nodes that others are by turns, and, if extents are known late, the starts that are copied.
[[nodiscard]] constexpr std::size_t more_rows(const graph_view& g) {
  const bool apart = ir::has_late(g);
  std::size_t count = 0;
  for (const ir::node& n : g.nodes)
    if (n.op == &ir::rules<ir::loop_member>)
      count += static_cast<std::size_t>(n.inputs) - 1;
    else if (apart && n.op == &ir::rules<ir::loop_carried>)
      ++count;
  return count;
}

/// `assign_storage` for a graph with loops.
/// @tparam M `more_rows`
template <std::size_t L, std::size_t M, std::size_t N, std::size_t E, std::size_t A, std::size_t F>
[[nodiscard]] constexpr looped_plan<N, E, A, F, L, M> assign_loops(const raw_plan<N, E, A, F>& tables,
                                                                   const graph_view& g, array_view<const need> needs,
                                                                   std::int32_t kept = 0) {
  using role = typename detail::loop_storage<N, L>::role;
  const detail::loop_storage<N, L> loops(tables, g, needs);
  looped_plan<N, E, A, F, L, M> p;
  const std::size_t count = g.loops.size();
  if (tables.contradictory) {
    p.contradictory = true;
    return p;
  }
  fixed_array<std::int32_t, N> block_of{};  // of a node that stands for a block of rows
  fixed_array<std::int16_t, L> number{};    // of each loop in the plan
  if constexpr (N == heap_room) {
    make_room(tables.nodes.size(), block_of);
    make_room(count, p.loops, number);
    make_room(tables.nodes.size() + count + more_rows(g), p.rows);
  }
  static_cast<raw_plan<N, E, A, F>&>(p) = assign_storage(tables, kept, loops, block_of.data());
  // Loops in the order of their first steps, a loop before those in its body.
  const auto comes_before = [&](std::size_t a, std::size_t b) {
    if (loops.first_step(a) != loops.first_step(b)) return loops.first_step(a) < loops.first_step(b);
    if (loops.end_step(a) != loops.end_step(b)) return loops.end_step(a) > loops.end_step(b);
    for (std::int16_t l = loops.parent(b); l >= 0; l = loops.parent(static_cast<std::size_t>(l)))
      if (static_cast<std::size_t>(l) == a) return true;
    return false;
  };
  for (std::size_t l = 0; l < count; ++l) {
    if (loops.first_step(l) < 0) continue;
    ++p.loop_count;
    for (std::size_t o = 0; o < count; ++o)
      if (o != l && loops.first_step(o) >= 0 && comes_before(o, l)) ++number[l];
  }
  for (std::size_t l = 0; l < count; ++l) {
    if (loops.first_step(l) < 0) continue;
    const std::int16_t parent = loops.parent(l);
    p.loops[number[l]] = {loops.first_step(l),
                          loops.end_step(l),
                          parent < 0 ? std::int16_t{-1} : number[static_cast<std::size_t>(parent)],
                          loops.head(l),
                          p.attributes.values[p.nodes.values[loops.head(l)].first_attribute + 1] != 0,
                          loops.ends(l),
                          loops.condition(l)};
  }
  // Where each iteration finds what.
  const auto add = [&](node_id i, node_id base, std::int32_t slot, std::int32_t loop, row_rule rule) {
    plan_node& n = p.nodes.values[i];
    n.put(storage_kind::row, p.row_count);
    p.rows[p.row_count++] = {i, base, slot, number[loop], rule};
  };
  const auto input = [&](const plan_node& n, int k) { return p.inputs.values[n.first_input + k]; };
  for (std::size_t l = 0; l < count; ++l)
    if (loops.first_step(l) >= 0 && loops.ends(l) == loop_end::by_number)
      p.rows[p.row_count++] = {loops.condition(l), loops.condition(l), -1, number[l], row_rule::number};
  for (node_id i = 0; i < p.sizes.nodes; ++i) {
    plan_node& n = p.nodes.values[i];
    if (!loops.wanted(i)) continue;
    if (n.op == &ir::info<op::row>) {
      n.put(storage_kind::row, p.row_count);
      p.rows[p.row_count++] = {i, input(n, 0),     -1,
                               0, row_rule::fixed, static_cast<std::int32_t>(p.attributes.values[n.first_attribute])};
      continue;
    }
    if (n.op->is(op_kind::view)) {
      const plan_node& of = p.nodes.values[p.inputs.values[n.first_input]];
      n.put(of.storage, of.slot);
      continue;
    }
    const std::int16_t loop = g.loop_of[n.source];
    if (n.op == &ir::info<ir::loop_element>) {
      add(i, p.inputs.values[n.first_input + 1], -1, loop, row_rule::element);
      continue;
    }
    if (n.op == &ir::info<ir::loop_member>) {
      add(i, input(n, 1), -1, loop, row_rule::listed);
      p.rows[n.slot].at = n.inputs - 1;
      for (int k = 1; k < n.inputs; ++k)
        p.rows[p.row_count++] = {input(n, k), input(n, k), -1, number[loop], row_rule::in_list};
      continue;
    }
    const role is = loops.role_of(i);
    if (is == role::none) continue;
    const node_id group = loops.group(i);
    if (is == role::row) {
      add(i, group, -1, loop, row_rule::element);
      continue;
    }
    if (is == role::stack) {
      if (group == i)
        n.put(storage_kind::arena, block_of[i]);
      else
        add(i, group, -1, loop, row_rule::element);
      continue;
    }
    const bool all = loops.has_history(group);
    const auto own = static_cast<std::int16_t>(g.loop_of[p.nodes.values[group].source]);
    const bool reversed = p.attributes.values[p.nodes.values[loops.head(own)].first_attribute + 1] != 0;
    const std::int32_t slot = block_of[group];
    if (const node_id start = loops.start_of(i); start != ir::no_node)
      p.rows[p.row_count++] = {start, start, slot, number[own], row_rule::start};
    switch (is) {
      case role::carried:
      case role::last:
        add(i, ir::no_node, slot, own, all ? row_rule::all_carried : row_rule::carried);
        break;
      case role::next:
        add(i, ir::no_node, slot, own, all ? row_rule::all_next : row_rule::next);
        break;
      case role::start:
        if (all && reversed)
          add(i, ir::no_node, slot, own, row_rule::behind_all);
        else
          n.put(storage_kind::arena, slot);
        break;
      default:
        if ((is == role::rows_next) != reversed)
          add(i, ir::no_node, slot, own, row_rule::second);
        else
          n.put(storage_kind::arena, slot);
        break;
    }
    if (p.blocks.values[slot].rows == ir::no_node) p.blocks.values[slot].rows = all ? loops.head(own) : group;
  }
  return p;
}

}  // namespace tagma::plan
