// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Loops in a flat graph. A loop has a head; what it iterates are nodes that read the head, and every node that depends
/// on these, up to the results of the loop, is its body. So what does not depend on what is iterated is in front of the
/// loop by itself, and passes see one graph. The next value of a carried node stands in a list of its own, which keeps
/// the edges free of cycles.

#include "tagma/base/config.hpp"
#include "tagma/ir/graph.hpp"

namespace tagma::ir {

/// The most loops in one graph, with those that gradients add.
inline constexpr int most_loops = 64;

/// The head. Its shape is [iterations]: attribute 0, or if that is `dyn`, the first extent of the inputs. Attribute 1
/// tells whether it goes from the last element to the first.
struct loop_head {
  static constexpr const char* name = "loop";
  /// Input `i` is a head.
  static constexpr void takes_at(auto& t, int i) { t.head(i), t.int64_at(i), t.axes(i, 1, 1); }
  static constexpr op_kind kind = op_kind::loop;
  static constexpr bool unasked = true;
  static constexpr bool stateful = true;
  static constexpr std::uint64_t shape_only = ~std::uint64_t{0};
  static constexpr void takes(auto& t) {
    t.inputs(0, INT16_MAX);
    for (int i = 0; i < t.count(); ++i) t.any_at(i), t.axes(i, 1);
    t.size("iterations", dyn), t.flag("reversed");
  }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    extent count = a.attributes[0];
    for (const tensor_spec& in : a.in) {
      if (count != dyn && in.dims[0] != dyn && in.dims[0] != count) return "the sequences have different lengths";
      if (count == dyn) count = in.dims[0];
    }
    a.out = {dtype::int64, {count}};
    return nullptr;
  }
};

/// The head of a loop that is done as often as input 0, a scalar, says: an integer, or a bool for once or never.
/// Attribute 0 is the most iterations, attribute 1 as above.
struct times_head {
  static constexpr const char* name = "loop_times";
  static constexpr op_kind kind = op_kind::loop;
  static constexpr bool unasked = true;
  static constexpr bool stateful = true;
  static constexpr void takes(auto& t) { t.inputs(1), t.size("most iterations"), t.flag("reversed"); }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = {dtype::int64, {a.attributes[0]}};
    if (a.in[0].type != dtype::boolean && a.in[0].type != dtype::int64)
      return "a loop is done as often as a bool or an int64 says";
    return a.in[0].dims.rank == 0 ? nullptr : "a loop is done as often as a scalar says";
  }
};

/// The head of a loop that goes on while its first carried value, a bool, is true. Attribute 0 is the most iterations,
/// 0 if there is no such number. Input 0, what that value begins as, tells such loops apart.
struct while_head {
  static constexpr const char* name = "loop_while";
  static constexpr op_kind kind = op_kind::loop;
  static constexpr bool unasked = true;
  static constexpr bool stateful = true;
  static constexpr std::uint64_t shape_only = 0b1;
  static constexpr void takes(auto& t) {
    t.inputs(1), t.boolean_at(0), t.scalar(0), t.size("most iterations"), t.flag("reversed");
  }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = {dtype::int64, {a.attributes[0]}};
    return nullptr;
  }
};

/// Input 0 as the body of the loop of head 1 is given it: what is computed from it is computed in the body.
struct loop_given {
  static constexpr const char* name = "loop_given";
  static constexpr op_kind kind = op_kind::view;
  static constexpr bool unasked = true;
  static constexpr bool single = true;
  static constexpr std::uint64_t shape_only = 0b10;
  static constexpr void takes(auto& t) { t.inputs(2), t.any_at(0), loop_head::takes_at(t, 1); }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};

/// The element of input 1, a sequence along its first axis, that is the turn of the iteration.
struct loop_element {
  static constexpr const char* name = "loop_element";
  static constexpr op_kind kind = op_kind::iterated;
  static constexpr bool unasked = true;
  static constexpr bool single = true;
  static constexpr std::uint64_t shape_only = 0b01;
  static constexpr void takes(auto& t) {
    t.inputs(2), t.any_at(1), loop_head::takes_at(t, 0), t.axes(1, 1);
    t.needs(compatible(t.in(0).dims[0], t.in(1).dims[0]), "a sequence has an element for each iteration");
  }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    if (a.in[1].dims.rank == 0) return "a sequence has at least one axis";
    if (!compatible(a.in[0].dims[0], a.in[1].dims[0])) return "a sequence has an element for each iteration";
    a.out = {a.in[1].type, a.in[1].dims.sub(1, a.in[1].dims.rank)};
    return nullptr;
  }
};

/// One of inputs 1 and so on, of one type and shape: the one whose turn it is.
struct loop_member {
  static constexpr const char* name = "loop_member";
  static constexpr op_kind kind = op_kind::iterated;
  static constexpr bool unasked = true;
  static constexpr bool single = true;
  static constexpr std::uint64_t shape_only = 0b1;
  static constexpr void takes(auto& t) {
    t.inputs(2, INT16_MAX), t.any_at(1), loop_head::takes_at(t, 0);
    for (int i = 2; i < t.count(); ++i) t.needs(t.in(i) == t.in(1), "what takes turns has one type and shape");
    t.needs(t.in(0).dims[0] == t.count() - 1, "there is one for each iteration");
  }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = a.in[1];
    return nullptr;
  }
};

/// A value that one iteration hands to the next; it begins as input 1. Attribute 0 numbers those of a loop.
struct loop_carried {
  static constexpr const char* name = "loop_carried";
  static constexpr op_kind kind = op_kind::iterated;
  static constexpr bool unasked = true;
  static constexpr bool single = true;
  static constexpr std::uint64_t shape_only = 0b01;
  static constexpr void takes(auto& t) {
    t.inputs(2), t.any_at(1), loop_head::takes_at(t, 0), t.attribute("number", 0, INT16_MAX);
  }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = a.in[1];
    return nullptr;
  }
};

/// A carried value that begins as nothing, since it is not read where the loop is not done; input 1 is its next value.
struct loop_result {
  static constexpr const char* name = "loop_result";
  static constexpr op_kind kind = op_kind::iterated;
  static constexpr bool unasked = true;
  static constexpr bool single = true;
  static constexpr std::uint64_t shape_only = 0b11;
  static constexpr void takes(auto& t) {
    t.inputs(2), t.any_at(1), loop_head::takes_at(t, 0), t.attribute("number", 0, INT16_MAX);
  }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = a.in[1];
    return nullptr;
  }
};

/// A value of its own for a loop: the beginning of a carried value, or a result that no step of the body has made.
/// Input 1 is the head where it is done in every iteration.
struct loop_copy {
  static constexpr const char* name = "loop_copy";
  static constexpr op_kind kind = op_kind::elementwise;
  static constexpr bool unasked = true;
  static constexpr bool stateful = true;
  static constexpr std::uint64_t shape_only = 0b10;
  static constexpr void takes(auto& t) {
    t.inputs(1, 2), t.no_string_at(0);
    if (t.count() == 2) loop_head::takes_at(t, 1);
  }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void gradient(gradient_args& g) { g.set(0, g.upstream); }
};

/// A carried value, input 0, behind the last iteration of the loop of head 1. Input 2 is what is carried to there.
struct loop_last {
  static constexpr const char* name = "loop_last";
  static constexpr op_kind kind = op_kind::iterations;
  static constexpr bool unasked = true;
  static constexpr bool single = true;
  static constexpr std::uint64_t shape_only = 0b10;
  static constexpr void takes(auto& t) {
    t.inputs(3), t.any_at(0), loop_head::takes_at(t, 1),
        t.needs(t.in(2) == t.in(0), "the next value is like the first");
  }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};

/// The values of input 0 in all iterations of the loop of head 1, along a new first axis.
struct loop_stack {
  static constexpr const char* name = "loop_stack";
  static constexpr op_kind kind = op_kind::iterations;
  static constexpr bool unasked = true;
  static constexpr bool single = true;
  static constexpr std::uint64_t shape_only = 0b10;
  static constexpr void takes(auto& t) { t.inputs(2), t.any_at(0), loop_head::takes_at(t, 1); }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    if (a.in[0].dims.rank == max_rank) return "a sequence has at most six axes";
    a.out = {a.in[0].type, {a.in[1].dims[0]}};
    for (const extent e : a.in[0].dims.span()) a.out.dims.push_back(e);
    return nullptr;
  }
};

/// The end of a body, as handles have it: head, carried values, their next values, other results. Attribute 0 counts
/// the carried values.
struct loop_end {
  static constexpr const char* name = "loop_end";
  static constexpr op_kind kind = op_kind::close;
  static constexpr bool stateful = true;
  static constexpr int outputs = 1;
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    const int carried = static_cast<int>(a.attributes[0]);
    a.out = a.in[1 + carried + a.output];
    if (a.output < carried) return nullptr;
    infer_args all{{}, {}, {}};
    const tensor_spec in[] = {a.in[1 + carried + a.output], a.in[0]};
    all.in = {in, 2};
    const char* const problem = loop_stack::infer(all);
    a.out = all.out;
    return problem;
  }
};

/// One loop of a graph.
struct loop_info {
  node_id head = no_node;
  std::int16_t parent = -1;  ///< the loop around it
  std::int16_t rank = 0;     ///< of two loops, the inner one has the lower
};
/// A carried node, and the node that makes its value of the next iteration.
struct back_edge {
  node_id carried = no_node;
  node_id next = no_node;
};

/// What `op::lift` sees: a node about to be added to a body. It sets `result` if the node is an element of something
/// that one node in front of the loop makes of all elements.
struct lift_args : node_writer {
  class loop_table& loops;
  array_view<const node_id> inputs;
  attribute_list attributes;
  node_id result = no_node;

  [[nodiscard]] constexpr node_id in(int i) const { return inputs[i]; }
  /// The sequence of which input `i` is an element, or `no_node`.
  [[nodiscard]] constexpr node_id sequence(int i) const {
    const bool all = g[in(i)].op == &rules<loop_element> && g[g.input(in(i), 0)].op == &rules<loop_head>;
    return all ? g.input(in(i), 1) : no_node;
  }
  /// True if input `i` is the same in every iteration of the loop of input `of`.
  [[nodiscard]] constexpr bool stays(int i, int of) const;
  /// The same of the innermost loop that input `of` sees, element or not; false if it sees none.
  [[nodiscard]] constexpr bool stays_inside(int i, int of) const;
  /// The node is an element of `sequence`, as input `of` is one.
  constexpr void set(node_id sequence, int of) {
    const node_id pair[] = {g.input(in(of), 0), sequence};
    result = g.emit_plain(rules<loop_element>, pair, {}, no_extras);
  }
};

/// The loops of a graph while it is built: which node depends on which.
class loop_table : public loop_observer {
 public:
  constexpr loop_table() : loop_observer{&emit_observed, &note_observed} {}
  loop_table(const loop_table&) = delete;
  loop_table& operator=(const loop_table&) = delete;
  constexpr ~loop_table() { delete[] masks_, delete[] edges_, delete[] results_; }

  using mask = std::uint64_t;
  static constexpr int still_open = most_loops;

  [[nodiscard]] constexpr int count() const { return count_; }
  /// More loops than there is room for.
  [[nodiscard]] constexpr bool overflow() const { return overflow_; }
  [[nodiscard]] constexpr int edge_count() const { return edge_count_; }
  [[nodiscard]] constexpr const back_edge& edge(int i) const { return edges_[i]; }
  [[nodiscard]] constexpr node_id head(int l) const { return loops_[l].head; }
  /// Loops whose iterations node `id` sees.
  [[nodiscard]] constexpr mask mask_of(node_id id) const { return id < noted_ ? masks_[id] : 0; }
  /// The innermost of them; -1 if there is none. Of two loops, the inner one ends first.
  [[nodiscard]] constexpr int innermost(mask m) const {
    int best = -1;
    for (int l = 0; l < count_; ++l)
      if (((m >> l) & 1) != 0 && (best < 0 || loops_[l].rank <= loops_[best].rank)) best = l;
    return best;
  }
  [[nodiscard]] constexpr int loop_of(node_id id) const { return innermost(mask_of(id)); }
  [[nodiscard]] constexpr int rank(int l) const { return loops_[l].rank; }
  /// The loop around loop `l`.
  [[nodiscard]] constexpr int parent(int l) const { return innermost(outside(l)); }
  [[nodiscard]] constexpr int of_head(node_id head) const {
    for (int l = 0; l < count_; ++l)
      if (loops_[l].head == head) return l;
    return -1;
  }
  /// Nodes from here on that see a loop which has ended were added by gradients.
  [[nodiscard]] constexpr node_id end_of(int l) const { return loops_[l].end; }
  [[nodiscard]] constexpr node_id next_of(node_id carried) const {
    for (int i = 0; i < edge_count_; ++i)
      if (edges_[i].carried == carried) return edges_[i].next;
    return no_node;
  }

  /// Ends loop `l`: `next` are the values of the next iteration, `other` what is handed out of every iteration.
  /// Returns false if one of them is out of reach: part of a body that has ended.
  /// @param results written, of each carried value and of each other one
  constexpr bool close(graph& g, int l, array_view<const node_id> carried, array_view<const node_id> next,
                       array_view<const node_id> other, array_view<node_id> results) {
    loops_[l].rank = closed_++;
    bool good = true;
    scratch_array<node_id, 8> last(carried.size()), out(other.size());
    for (std::size_t k = 0; k < carried.size(); ++k) {
      good = good && reaches(l, next[k]);
      last[k] = own(g, l, next[k]);
      for (std::size_t j = 0; j < k; ++j)
        if (last[j] == last[k]) last[k] = copy(g, l, next[k]);
    }
    for (std::size_t k = 0; k < other.size(); ++k) {
      good = good && reaches(l, other[k]);
      out[k] = own(g, l, other[k]);
      // Rows of all iterations are those of a carried value only where no loop around it has rows of them again.
      for (std::size_t j = 0; j < carried.size(); ++j)
        if (outside(l) != 0 && last[j] == out[k]) out[k] = copy(g, l, other[k]);
    }
    if (g.overflow()) return good;
    for (std::size_t k = 0; k < carried.size(); ++k) add_edge({carried[k], last[k]});
    loops_[l].end = g.size();
    for (std::size_t k = 0; k < carried.size(); ++k) results[k] = emit_last(g, l, carried[k]);
    for (std::size_t k = 0; k < other.size(); ++k) results[carried.size() + k] = emit_stack(g, l, out[k]);
    return good;
  }
  /// Remembers the results of a loop that handles name.
  constexpr void keep_results(int l, array_view<const node_id> results) {
    loops_[l].first_result = result_count_;
    node_id* const more = new node_id[static_cast<std::size_t>(result_count_) + results.size()];
    for (int i = 0; i < result_count_; ++i) more[i] = results_[i];
    for (const node_id r : results) more[result_count_++] = r;
    delete[] results_;
    results_ = more;
  }
  [[nodiscard]] constexpr node_id result(int l, extent i) const { return results_[loops_[l].first_result + i]; }

  constexpr node_id emit_last(graph& g, int l, node_id carried) const {
    const node_id all[] = {carried, loops_[l].head, next_of(carried)};
    return g.emit_plain(rules<loop_last>, all, {}, no_extras);
  }
  /// The values of a node of the body in all iterations.
  constexpr node_id emit_stack(graph& g, int l, node_id value) const {
    const node_id pair[] = {value, loops_[l].head};
    return g.emit_plain(rules<loop_stack>, pair, {}, no_extras);
  }
  /// A copy of a value in every iteration.
  constexpr node_id copy(graph& g, int l, node_id value) const {
    const node_id pair[] = {value, loops_[l].head};
    return g.emit_plain(rules<loop_copy>, pair, {}, no_extras);
  }
  /// A value that loop `l`, which has ended, carries beside the others, from `start` to what `make_next(carried)` is.
  template <class Make>
  constexpr node_id carry(graph& g, int l, node_id start, const Make& make_next) {
    const node_id copied[] = {start};
    const node_id pair[] = {loops_[l].head, g.emit_plain(rules<loop_copy>, copied, {}, no_extras)};
    const attribute index = edge_count_;
    const node_id carried = g.emit_plain(rules<loop_carried>, pair, {&index, 1}, no_extras);
    add_edge({carried, make_next(carried)});
    return carried;
  }
  /// For copies of graphs: the rank of the loop whose head was added last.
  constexpr void set_rank(int rank) { loops_[count_ - 1].rank = rank; }
  /// The same: node `id` is part of loops, whatever it reads.
  constexpr void bring_into(node_id id, mask loops) {
    masks_[id] |= loops;
    note_outside(masks_[id]);
  }
  constexpr void add_edge(const back_edge& e) {
    if (edge_count_ == edge_room_) {
      edge_room_ = 2 * edge_room_ + 8;
      back_edge* const more = new back_edge[static_cast<std::size_t>(edge_room_)];
      for (int i = 0; i < edge_count_; ++i) more[i] = edges_[i];
      delete[] edges_;
      edges_ = more;
    }
    edges_[edge_count_++] = e;
  }
  /// True if a step of the body writes the node, into memory that may be where a loop wants it.
  [[nodiscard]] constexpr bool is_written(const graph& g, int l, node_id id) const {
    const op_info& info = g.info(id);
    return loop_of(id) == l && (info.is(op_kind::compute) || info.is(op_kind::elementwise) || info.is(op_kind::output));
  }

  /// Takes the place of every input in `emit`: for gradients, which read bodies of loops that have ended.
  struct translator {
    node_id (*translate)(translator& self, graph& g, node_id id) = nullptr;
  };
  constexpr void translate_by(translator* t) { translator_ = t; }

 private:
  struct loop {
    node_id head = no_node;
    mask outside = 0;  ///< what nodes of its body see beside it
    int rank = still_open;
    int first_result = 0;
    node_id end = 0;
  };
  /// Loops that end behind loop `l`, as far as its body sees them.
  [[nodiscard]] constexpr mask outside(int l) const {
    mask m = loops_[l].outside;
    for (int o = 0; o < count_; ++o)
      if (o == l || loops_[o].rank < loops_[l].rank) m &= ~(mask{1} << o);
    return m;
  }
  /// A value that the body may end with: of the loop itself, or from around it.
  [[nodiscard]] constexpr bool reaches(int l, node_id id) const {
    const int of = loop_of(id);
    return of < 0 || of == l || loops_[of].rank > loops_[l].rank;
  }
  constexpr node_id own(graph& g, int l, node_id value) const {
    return is_written(g, l, value) ? value : copy(g, l, value);
  }

  static constexpr node_id emit_observed(loop_observer& self, graph& g, const op_rules& op,
                                         array_view<const node_id> inputs, attribute_list attributes,
                                         const node_extras& extras) {
    return static_cast<loop_table&>(self).emit(g, op, inputs, attributes, extras);
  }
  static constexpr void note_observed(loop_observer& self, const graph& g, node_id id) {
    static_cast<loop_table&>(self).note(g, id);
  }
  constexpr node_id emit(graph& g, const op_rules& op, array_view<const node_id> inputs, attribute_list attributes,
                         const node_extras& extras) {
    scratch_array<node_id, 8> own(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      own[i] = translator_ == nullptr ? inputs[i] : translator_->translate(*translator_, g, inputs[i]);
    if (op.lift != nullptr && !overflow_ && extras.controls.empty() && extras.colocated.empty() && !g.overflow()) {
      lift_args args{{g}, *this, own.view(), attributes};
      op.lift(args);
      if (args.result != no_node) return args.result;
    }
    return g.emit_plain(op, own.view(), attributes, extras);
  }

  constexpr void note(const graph& g, node_id id) {
    while (id >= room_) grow();
    while (noted_ < id) masks_[noted_++] = 0;  // from before the first loop
    const op_info& info = g.info(id);
    mask m = 0;
    if (info.is(op_kind::loop) && count_ == most_loops) overflow_ = true;
    if (overflow_) {
      masks_[id] = 0;
      noted_ = id + 1;
      return;
    }
    const array_view<const node_id> inputs = g.inputs(id);
    for (const node_id in : inputs) {
      if (info.is(op_kind::loop) && g.info(in).is(op_kind::loop)) continue;  // only the number of iterations
      m |= mask_of(in);
      if (g.info(in).is(op_kind::loop) && !info.is(op_kind::loop) && !info.is(op_kind::iterations))
        m |= mask{1} << of_head(in);
    }
    for (const node_id in : g.controls(id)) m |= mask_of(in);
    if (info.is(op_kind::iterations)) {
      const int l = of_head(inputs[1]);
      m = (m | outside(l)) & ~(mask{1} << l);
      for (int o = 0; o < count_; ++o)
        if (loops_[o].rank < loops_[l].rank) m &= ~(mask{1} << o);
    }
    masks_[id] = m;
    noted_ = id + 1;
    if (info.is(op_kind::loop)) loops_[count_++] = {id, m};
    note_outside(m);
  }
  constexpr void grow() {
    room_ = 2 * room_ + 256;
    mask* const more = new mask[static_cast<std::size_t>(room_)];
    for (node_id i = 0; i < noted_; ++i) more[i] = masks_[i];
    delete[] masks_;
    masks_ = more;
  }
  constexpr void note_outside(mask m) {
    for (int l = 0; l < count_ && m != 0; ++l)
      if (((m >> l) & 1) != 0) loops_[l].outside |= m & ~(mask{1} << l);
  }

  loop loops_[most_loops]{};
  int count_ = 0, closed_ = 0;
  bool overflow_ = false;
  mask* masks_ = nullptr;
  node_id noted_ = 0, room_ = 0;
  back_edge* edges_ = nullptr;
  int edge_count_ = 0, edge_room_ = 0;
  node_id* results_ = nullptr;
  int result_count_ = 0;
  translator* translator_ = nullptr;
};

constexpr bool lift_args::stays(int i, int of) const {
  const int l = loops.of_head(g.input(in(of), 0));
  return ((loops.mask_of(in(i)) >> l) & 1) == 0;
}

constexpr bool lift_args::stays_inside(int i, int of) const {
  const int l = loops.loop_of(in(of));
  return l >= 0 && ((loops.mask_of(in(i)) >> l) & 1) == 0;
}

}  // namespace tagma::ir
