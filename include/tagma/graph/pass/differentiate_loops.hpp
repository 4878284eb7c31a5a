// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Reverse-mode differentiation of graphs with loops. The gradient of a loop is a loop that goes the other way: it
/// carries the gradients of what the loop carries, and reads what the body had computed, which the loop then keeps for
/// all iterations. A tensor from outside the loop has the sum over all iterations; where that is a sum of products, it
/// is one product behind the loop.

#include "tagma/expr/op/row.hpp"
#include "tagma/graph/pass/differentiate.hpp"
#include "tagma/ir/loops.hpp"

namespace tagma::ir {

/// `differentiate` for a graph with loops.
/// @tparam Graph ir::graph: a template costs nothing where there are no loops
template <class Graph>
class loop_differentiator : loop_table::translator {
 public:
  constexpr loop_differentiator(Graph& g, loop_table& loops, const gradient_scratch& scratch, build_status& status)
      : loop_table::translator{&translate_for_body},
        g_(g),
        loops_(loops),
        adjoint_(scratch.adjoint.data()),
        wanted_(scratch.wanted.data()),
        status_(status) {
    for (node_id& head : reverse_) head = no_node;
  }
  loop_differentiator(const loop_differentiator&) = delete;
  loop_differentiator& operator=(const loop_differentiator&) = delete;
  constexpr ~loop_differentiator() { delete[] copies_; }

  constexpr void run(node_id y, array_view<const node_id> xs, array_view<node_id> result) {
    y_ = y;
    for (node_id i = 0; i <= y; ++i) adjoint_[i] = no_node, wanted_[i] = false;
    for (const node_id x : xs)
      if (x <= y) wanted_[x] = true;
    for (bool again = true; again;) {
      again = false;
      mark_wanted(g_, y, wanted_);
      for (int e = 0; e < loops_.edge_count(); ++e) {
        const auto [carried, next] = loops_.edge(e);
        if (next <= y && wanted_[next] && !wanted_[carried]) wanted_[carried] = again = true;
      }
    }
    if (!wanted_[y]) return;
    adjoint_[y] = emit_seed(g_, y);
    loops_.translate_by(this);
    walk(-1, nullptr);
    loops_.translate_by(nullptr);
    g_.follow(no_node);
    for (std::size_t i = 0; i < xs.size(); ++i)
      if (xs[i] <= y && good()) result[i] = adjoint_[xs[i]];
  }

 private:
  /// What flows out of a body in an iteration.
  struct flow {
    node_id into = no_node;  ///< a node from outside
    node_id part = no_node;  ///< of the body of the reverse loop
  };
  class flow_list {
   public:
    constexpr flow_list() = default;
    flow_list(const flow_list&) = delete;
    flow_list& operator=(const flow_list&) = delete;
    constexpr ~flow_list() { delete[] all_; }
    constexpr void push(const flow& f) {
      if (count_ == room_) {
        room_ = 2 * room_ + 8;
        flow* const more = new flow[room_]{};
        for (std::size_t i = 0; i < count_; ++i) more[i] = all_[i];
        delete[] all_;
        all_ = more;
      }
      all_[count_++] = f;
    }
    /// The position of a part; added if it is new.
    constexpr std::size_t position(node_id part) {
      for (std::size_t i = 0; i < count_; ++i)
        if (all_[i].part == part) return i;
      push({no_node, part});
      return count_ - 1;
    }
    [[nodiscard]] constexpr bool has(node_id part) const {
      for (std::size_t i = 0; i < count_; ++i)
        if (all_[i].part == part) return true;
      return false;
    }
    [[nodiscard]] constexpr std::size_t size() const { return count_; }
    [[nodiscard]] constexpr flow& operator[](std::size_t i) const { return all_[i]; }

   private:
    flow* all_ = nullptr;
    std::size_t room_ = 0, count_ = 0;
  };

  [[nodiscard]] constexpr bool good() const { return !g_.overflow() && !loops_.overflow() && status_.good(); }

  /// What stands for a node of a forward body in the body of the reverse loop.
  static constexpr node_id translate_for_body(loop_table::translator& self, graph&, node_id id) {
    return static_cast<loop_differentiator&>(self).at_reverse(id);
  }
  constexpr node_id at_reverse(node_id id) {
    const int l = loops_.loop_of(id);
    if (l < 0 || reverse_[l] == no_node || g_.info(id).is(op_kind::loop)) return id;
    const op_rules& op = *g_[id].op;
    if (op.info == &info<loop_element>) return element(reverse_[l], at_reverse(g_.input(id, 1)));
    if (op.info == &info<loop_given>) return given(reverse_[l], at_reverse(g_.input(id, 0)));
    const bool member = op.info == &info<loop_member>;
    if (member || is_cheap(id, l)) {
      scratch_array<node_id, 8> in(g_[id].inputs);
      for (int k = 0; k < g_[id].inputs; ++k) in[k] = at_reverse(g_.input(id, k));
      if (member) in[0] = reverse_[l];
      return g_.emit_plain(op, in.view(), g_.attributes(id), no_extras);
    }
    return element(reverse_[l], at_reverse(loops_.emit_stack(g_, l, kept(l, id))));
  }
  /// Views, and what is computed from nothing that the loop iterates, are formed anew.
  [[nodiscard]] constexpr bool is_cheap(node_id id, int l) const {
    const op_info& info = g_.info(id);
    if (info.is(op_kind::view)) return true;
    if (!info.is(op_kind::elementwise) || info.stateful) return false;
    for (int k = 0; k < g_[id].inputs; ++k)
      if (!info.ignores_elements(k) && loops_.loop_of(g_.input(id, k)) == l) return false;
    return true;
  }
  /// The node whose values a loop keeps for `id`: a copy where they cannot be those of a carried value.
  constexpr node_id kept(int l, node_id id) {
    bool carried = g_.info(id).is(op_kind::iterated);
    for (int e = 0; e < loops_.edge_count() && !carried; ++e) carried = loops_.edge(e).next == id;
    // What an inner loop has carried is in its rows; what this one carries, where loops around it have none of it.
    if (g_.info(id).key != info<loop_last>.key && (!carried || loops_.parent(l) < 0)) return id;
    for (int c = 0; c < copy_count_; ++c)
      if (copies_[c].into == id) return copies_[c].part;
    flow* const more = new flow[static_cast<std::size_t>(copy_count_) + 1]{};
    for (int c = 0; c < copy_count_; ++c) more[c] = copies_[c];
    more[copy_count_++] = {id, loops_.copy(g_, l, id)};
    delete[] copies_;
    copies_ = more;
    return copies_[copy_count_ - 1].part;
  }
  constexpr node_id element(node_id head, node_id sequence) {
    const node_id pair[] = {head, sequence};
    return g_.emit_plain(rules<loop_element>, pair, {}, no_extras);
  }
  constexpr node_id given(node_id head, node_id value) {
    const node_id pair[] = {value, head};
    return g_.emit_plain(rules<loop_given>, pair, {}, no_extras);
  }
  /// Zeros of the type and shape of a node.
  constexpr node_id zeros_like(node_id like) {
    const node_id pair[] = {emit_constant(g_, g_.spec(like).type, 0), like};
    return g_.emit_op(op::broadcast_like{}, pair);
  }
  constexpr node_id begin_carried(node_id head, node_id start, attribute index) {
    const node_id own[] = {start};
    const node_id pair[] = {head, g_.emit_plain(rules<loop_copy>, own, {}, no_extras)};
    return g_.emit_plain(rules<loop_carried>, pair, {&index, 1}, no_extras);
  }

  /// Goes back through the nodes of a loop, or of no loop.
  /// @param out takes what flows into nodes around the loop
  constexpr void walk(int region, flow_list* out) {
    detail::output_gradients of_outputs;
    flow_list exits;
    const auto add = [&](node_id in, node_id part) { add_to(region, out, in, part); };
    for (node_id i = y_; i >= 0 && good(); --i) {
      const op_info& info = g_.info(i);
      if (info.is(op_kind::loop) || info.key == ir::info<loop_given>.key || loops_.loop_of(i) != region) continue;
      if (info.is(op_kind::iterated) || (adjoint_[i] == no_node && info.outputs == 0 && !info.is(op_kind::iterations)))
        continue;
      if (!info.is(op_kind::iterations)) {
        if (!flow_back(g_, i, adjoint_[i], of_outputs, wanted_, status_, add)) return;
        continue;
      }
      if (adjoint_[i] != no_node) exits.push({i, adjoint_[i]});
      const int l = loops_.of_head(g_.input(i, 1));
      if (i == loops_.end_of(l) && good()) reverse(l, exits, region, out);
    }
  }
  constexpr void add_to(int region, flow_list* out, node_id in, node_id part) {
    if (loops_.loop_of(in) == region)
      add_gradient(g_, adjoint_[in], part);
    else
      out->push({in, part});
  }

  /// Adds the loop that goes back through loop `l`.
  constexpr void reverse(int l, const flow_list& exits, int region, flow_list* out) {
    bool any = false;
    for (std::size_t x = 0; x < exits.size(); ++x) any = any || loops_.of_head(g_.input(exits[x].into, 1)) == l;
    if (!any) return;
    const node_id forward = loops_.head(l);
    // Rows beyond those of the iterations that were done have nothing in them: no sum may go over all.
    const bool counted = g_[forward].op == &rules<loop_head>;
    const bool once = !counted && g_.attributes(forward)[0] == 1;
    const node_id head = emit_head(l);
    if (!good()) return;
    const int own = loops_.of_head(head);
    if (own < 0) return;

    // What it begins with.
    flow_list carried;          // a carried value, and its gradient
    flow_list results_of_body;  // what is a result without being carried, and its gradient
    for (int e = 0; e < loops_.edge_count(); ++e) {
      const auto [value, next] = loops_.edge(e);
      if (g_.input(value, 0) != forward || !wanted_[value]) continue;
      node_id start = no_node;
      for (std::size_t x = 0; x < exits.size(); ++x)
        if (g_.info(exits[x].into).key == info<loop_last>.key && g_.input(exits[x].into, 0) == value)
          start = exits[x].part;
      if (g_.info(value).key == info<loop_result>.key) {
        if (start != no_node) results_of_body.push({loops_.next_of(value), given(head, start)});
        continue;
      }
      if (start == no_node) start = zeros_like(at_reverse(g_.input(value, 1)));
      carried.push({value, begin_carried(head, start, static_cast<attribute>(carried.size()))});
    }
    reverse_[l] = head;
    for (std::size_t c = 0; c < carried.size(); ++c)
      add_gradient(g_, adjoint_[loops_.next_of(carried[c].into)], carried[c].part);
    for (std::size_t r = 0; r < results_of_body.size(); ++r)
      add_gradient(g_, adjoint_[results_of_body[r].into], results_of_body[r].part);
    for (std::size_t x = 0; x < exits.size(); ++x) {
      const node_id exit = exits[x].into;
      if (g_.info(exit).key == info<loop_stack>.key && loops_.of_head(g_.input(exit, 1)) == l)
        add_gradient(g_, adjoint_[g_.input(exit, 0)], element(head, exits[x].part));
    }
    flow_list outside;
    walk(l, &outside);
    if (!good()) return;
    for (node_id i = 0; i <= y_; ++i)
      if (g_.info(i).key == info<loop_given>.key && g_.input(i, 1) == forward && adjoint_[i] != no_node &&
          wanted_[g_.input(i, 0)])
        outside.push({g_.input(i, 0), adjoint_[i]});

    // What it ends with.
    flow_list stacks;  // what is gathered, by part
    flow_list next;    // the value of the next iteration of each carried one
    for (std::size_t c = 0; c < carried.size(); ++c) {
      const node_id flowed = adjoint_[carried[c].into];
      next.push({carried[c].part, flowed == no_node ? zeros_like(carried[c].part) : flowed});
    }
    const std::size_t states = carried.size();
    flow_list elements;  // a sequence, and what flows into its elements
    for (node_id i = 0; i <= y_; ++i)
      if (g_.info(i).key == info<loop_element>.key && g_.input(i, 0) == forward && adjoint_[i] != no_node) {
        stacks.position(adjoint_[i]);
        elements.push({g_.input(i, 1), adjoint_[i]});
      }
    flow_list members;  // what one of several is in each iteration, and what flows into it
    for (node_id i = 0; i <= y_; ++i)
      if (g_.info(i).key == info<loop_member>.key && g_.input(i, 0) == forward && adjoint_[i] != no_node) {
        // A row of its own: loops around this one have none of its rows.
        const node_id part = region < 0 ? adjoint_[i] : loops_.copy(g_, own, adjoint_[i]);
        stacks.position(part);
        members.push({i, part});
      }
    for (std::size_t f = 0; f < outside.size(); ++f)
      if (counted && is_sum_of_products(outside[f].part, own))
        for (int k = 0; k < 2; ++k)
          if (sequence_of(g_.input(outside[f].part, k), head) == no_node) stacks.position(g_.input(outside[f].part, k));
    flow_list sums;  // what is added up in a carried value of its own
    for (std::size_t f = 0; f < outside.size(); ++f) {
      const flow& o = outside[f];
      if (counted && (is_sum_of_products(o.part, own) || is_sum_of_gathered(o.part, stacks) || !sees(o.part, own)))
        continue;
      const node_id sum =
          begin_carried(head, zeros_like(at_reverse(o.into)), static_cast<attribute>(states + sums.size()));
      const node_id pair[] = {sum, o.part};
      next.push({sum, once ? o.part : g_.emit_op(op::add{}, pair)});
      sums.push({o.into, sum});
    }
    reverse_[l] = no_node;
    scratch_array<node_id, 16> begin(next.size()), end(next.size()), gathered(stacks.size()),
        results(next.size() + stacks.size());
    for (std::size_t k = 0; k < next.size(); ++k) begin[k] = next[k].into, end[k] = next[k].part;
    for (std::size_t k = 0; k < stacks.size(); ++k) gathered[k] = stacks[k].part;
    if (!good()) return;
    loops_.close(g_, own, begin.view(), end.view(), gathered.view(), results.view());
    if (!good()) return;

    // What flows out of it.
    const auto all_of = [&](node_id part) { return results[next.size() + stacks.position(part)]; };
    for (std::size_t c = 0; c < states; ++c) {
      const node_id start = g_.input(carried[c].into, 1);
      if (wanted_[start]) add_to(region, out, start, results[c]);
    }
    for (std::size_t s = 0; s < sums.size(); ++s) add_to(region, out, sums[s].into, results[states + s]);
    for (std::size_t e = 0; e < elements.size(); ++e)
      if (wanted_[elements[e].into]) add_to(region, out, elements[e].into, all_of(elements[e].part));
    for (std::size_t m = 0; m < members.size() && good(); ++m) {
      const node_id all = all_of(members[m].part);
      for (int k = 1; k < g_[members[m].into].inputs; ++k)
        if (const node_id in = g_.input(members[m].into, k); wanted_[in])
          add_to(region, out, in, g_.emit_op(op::row{}, {&all, 1}, pack_attributes(k - 1).list()));
    }
    for (std::size_t f = 0; f < outside.size() && good() && counted; ++f) {
      const flow& o = outside[f];
      if (!sees(o.part, own)) {
        // The same in every iteration: so many times.
        const node_id pair[] = {o.part, forward};
        add_to(region, out, o.into, emit_times(pair));
      } else if (is_sum_of_products(o.part, own)) {
        node_id in[2]{};
        for (int k = 0; k < 2; ++k) {
          const node_id one = g_.input(o.part, k), all = sequence_of(one, head);
          in[k] = rows_joined(all == no_node ? all_of(one) : all);
        }
        add_to(region, out, o.into, g_.emit(*g_[o.part].op, in, pack_attributes(true, false)));
      } else if (is_sum_of_gathered(o.part, stacks)) {
        const node_id all = all_of(g_.input(o.part, 0));
        const attribute axes = g_.attributes(o.part)[0] << 1 | 1;
        add_to(region, out, o.into, g_.emit_op(op::sum{}, {&all, 1}, pack_attributes(axes, attribute{0}).list()));
      }
    }
  }

  /// The head of the loop that goes back through loop `l`: it is done as often.
  constexpr node_id emit_head(int l) {
    const node_id forward = loops_.head(l);
    const op_rules* const op = g_[forward].op;
    const attribute most = g_.attributes(forward)[0], reversed = g_.attributes(forward)[1] == 0;
    if (op == &rules<loop_head>) {
      const attribute how[] = {dyn, reversed};
      return g_.emit_plain(rules<loop_head>, {&forward, 1}, how, no_extras);
    }
    const bool is_while = op == &rules<while_head>;
    if (is_while ? most == 0 : most != 1) {
      status_ = {is_while ? build_problem::endless_loop : build_problem::second_while, op->info, {}, {}, {}};
      return no_node;
    }
    const node_id count = at_reverse(is_while ? count_iterations(l) : g_.input(forward, 0));
    const attribute how[] = {most, reversed};
    return g_.emit_plain(rules<times_head>, {&count, 1}, how, no_extras);
  }
  /// How often a loop has been done.
  constexpr node_id count_iterations(int l) {
    const node_id one = emit_constant(g_, dtype::int64, 1);
    const node_id count = loops_.carry(g_, l, emit_constant(g_, dtype::int64, 0), [&](node_id carried) {
      const node_id pair[] = {carried, one};
      return g_.emit_plain(rules<op::add>, pair, {}, no_extras);
    });
    return loops_.emit_last(g_, l, count);
  }

  [[nodiscard]] constexpr bool sees(node_id id, int l) const { return ((loops_.mask_of(id) >> l) & 1) != 0; }
  /// True for a transposed matrix times another, both of the body: their sum is one product of all their rows.
  [[nodiscard]] constexpr bool is_sum_of_products(node_id part, int l) const {
    if (g_.info(part).name != "matmul" || g_.attributes(part)[0] == 0 || g_.attributes(part)[1] != 0) return false;
    for (int k = 0; k < 2; ++k) {
      const node_id in = g_.input(part, k);
      if (g_.spec(in).dims.rank != 2 || g_.spec(in).dims[1] == dyn || !sees(in, l)) return false;
    }
    return true;
  }
  /// True for a sum over axes of something that is gathered anyway.
  [[nodiscard]] constexpr bool is_sum_of_gathered(node_id part, const flow_list& stacks) const {
    return g_.info(part).key == info<op::sum>.key && g_.attributes(part)[1] == 0 && stacks.has(g_.input(part, 0));
  }
  /// The sequence that a node is an element of in the loop of `head`, or `no_node`.
  [[nodiscard]] constexpr node_id sequence_of(node_id id, node_id head) const {
    return g_.info(id).key == info<loop_element>.key && g_.input(id, 0) == head ? g_.input(id, 1) : no_node;
  }
  constexpr node_id rows_joined(node_id x) {
    const shape& dims = g_.spec(x).dims;
    return g_.emit_op(op::reshape{}, {&x, 1}, pack_attributes(dyn, dims[dims.rank - 1]).list());
  }
  /// A tensor times the number of iterations of a loop.
  constexpr node_id emit_times(const node_id (&pair)[2]) {
    const node_id one = emit_constant(g_, g_.spec(pair[0]).type, 1);
    const node_id spread[] = {one, loops_.emit_stack(g_, loops_.of_head(pair[1]), one)};
    const node_id ones = g_.emit_op(op::broadcast_like{}, spread);
    const node_id count = g_.emit_op(op::sum{}, {&ones, 1}, pack_attributes(attribute{1}, attribute{0}).list());
    const node_id product[] = {pair[0], count};
    return g_.emit_op(op::multiply{}, product);
  }

  Graph& g_;
  loop_table& loops_;
  node_id* adjoint_;
  bool* wanted_;
  build_status& status_;
  node_id y_ = no_node;
  node_id reverse_[most_loops]{};  // of each loop that is gone back through: the head of the loop that does
  flow* copies_ = nullptr;
  int copy_count_ = 0;
};

}  // namespace tagma::ir
