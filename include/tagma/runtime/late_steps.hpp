// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps of a bound plan that follow extents which other steps find. Each is bound when a run comes to it, and bound
/// again only if the extents before it have changed. Only programs with operations that are late compile what is here.

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/plan/late.hpp"
#include "tagma/runtime/plan_store.hpp"

namespace tagma::runtime {

/// A template, so that other programs do not compile it: g++ compiles each class whose functions a virtual call may
/// reach.
///
/// A step publishes the extents of what it makes, in `dims_` of the plan, before those that wait for it begin. From
/// what others have published, a step infers by itself the extents of what lies between: views, members of its loop,
/// tensors of which it reads only the shape.
/// @tparam Bound bound_plan
template <class Bound>
class late_steps final : public late_extents {
 public:
  static constexpr int most_kept = 16;  ///< bindings of one step: their kernels take memory that is not counted

  [[nodiscard]] TAGMA_COLD static owned<late_extents> make(Bound& plan) {
    return owned<late_extents>(new late_steps(plan));
  }

  [[nodiscard]] TAGMA_COLD bool infer(ir::node_id i) override {
    const plan::plan_node& n = node(i);
    if (n.op->is(ir::op_kind::placeholder) || n.op->is(ir::op_kind::control)) return false;
    const plan::plan_node& of = plan::inferring(tables_.nodes, tables_.inputs, n);
    bool follows = of.op->late;
    for (int k = 0; k < of.inputs; ++k) follows = follows || late_[input(of, k)] != what::known;
    if (!follows) return false;
    follows_[i] = true;
    if (n.op->outputs > 0) return true;
    plan::late_spec found;
    const char* const problem = infer(n, of, found, [&](int k) {
      const ir::node_id in = input(of, k);
      return plan::late_spec{
          {node(in).spec.type, known_of(in)}, {node(in).spec.type, dims(in)}, late_[in] != what::unbounded};
    });
    if (problem != nullptr)
      fail(status_code::invalid_argument, text(of, problem, [&](ir::node_id in) { return known_of(in); }));
    dims(i) = found.most.dims;
    if (found.known.dims.is_static()) return true;
    late_[i] = found.bounded ? what::bounded : what::unbounded;
    known_[i] = found.known.dims;
    return true;
  }

  TAGMA_COLD void bind() override {
    capacity_.allocate(tables_.blocks.size());
    for (std::size_t b = 0; b < capacity_.size(); ++b) capacity_[b] = plan_.block_bytes(tables_.blocks[b]);
    grown_.allocate(capacity_.size());
    grown_on_device_.allocate(capacity_.size());
    moving_.allocate(capacity_.size());
    for (std::size_t i = 0; i < tables_.nodes.size(); ++i)
      if (late_[i] != what::known && is_arena(static_cast<ir::node_id>(i)))
        moving_[node(static_cast<ir::node_id>(i)).slot] = true;
    for (std::size_t s = 0; s <= tables_.steps.size(); ++s) collect(s);
    for (std::size_t l = 0; l < tables_.loops.size(); ++l)
      if (tables_.loops[l].parent < 0) collect_loop(l);
    std::size_t results = 0;
    for (std::size_t s = 0; s < tables_.steps.size(); ++s)
      if (steps_[s].finds) results += result_count(s);
    if (results == 0) return;
    const std::size_t bytes = results * max_rank * sizeof(extent);
    std::byte* words = nullptr;
    if (plan_.accelerated_) {
      shared_words_ = plan_.others_->allocate(on_host, static_cast<std::int64_t>(bytes), {"the extents of a run"});
      words = shared_words_->data;
    } else {
      words_ = aligned_bytes(bytes);
      words = words_.data();
    }
    for (std::size_t s = 0; s < tables_.steps.size(); ++s) {
      if (!steps_[s].finds) continue;
      steps_[s].found.plan = this;
      steps_[s].found.step = s;
      steps_[s].found.extents = reinterpret_cast<extent*>(words);
      words += result_count(s) * max_rank * sizeof(extent);
      plan_.calls_[s].late = &steps_[s].found;
    }
  }

  [[nodiscard]] bool is_late(std::size_t s) const override { return steps_[s].late; }
  [[nodiscard]] bool finds(std::size_t s) const override { return steps_[s].finds; }

  void begin(std::size_t s, const run_context& context) override {
    late_step& own = steps_[s];
    if (!own.late) return;
    find_binding(s, own);
    const std::uint64_t moves = moves_.load(memory_order::relaxed);
    if (own.bindings->number == own.bound_as && moves == own.seen_moves && !own.finds) return;
    own.bound_as = 0;  // until all of it is
    bind(s, own, context);
    own.bound_as = own.bindings->number;
    own.seen_moves = moves;
  }

  /// The extents of a loop are the same in all of its iterations, so they are found before the first one, also for what
  /// reads the results of a loop that is not done at all.
  [[nodiscard]] bool enter_loop(std::size_t l) override {
    late_step& own = steps_[tables_.steps.size() + 1 + l];
    const std::uint64_t moves = moves_.load(memory_order::relaxed);
    if (!own.late) {
      if (own.bound_as != 0 && own.seen_moves == moves) return false;
      own.bound_as = 1;
      own.seen_moves = moves;
      return true;
    }
    find_binding(tables_.steps.size() + 1 + l, own);
    if (own.bindings->number == own.bound_as && own.seen_moves == moves) return false;
    own.bound_as = 0;  // until all of it is
    for (std::size_t i = own.sources; i < own.nodes.size(); ++i) dims(own.nodes[i]) = own.bindings->dims[i];
    const plan::plan_loop& loop = tables_.loops[l];
    for (std::size_t b = 0; b < capacity_.size(); ++b) {
      const plan::plan_block& block = tables_.blocks[b];
      if (block.first < loop.first || block.first >= loop.end) continue;
      if (const std::int64_t bytes = plan_.block_bytes(block); bytes > capacity_[b])
        grow(static_cast<std::size_t>(block.first), static_cast<std::int32_t>(b), bytes);
    }
    own.bound_as = own.bindings->number;
    own.seen_moves = moves_.load(memory_order::relaxed);
    return true;
  }

  void end(std::size_t s) override {
    late_step& own = steps_[s];
    const plan::plan_step& step = tables_.steps[s];
    for (std::size_t r = 0; r < result_count(s); ++r) {
      const ir::node_id id = result(step, r);
      if (id == ir::no_node) continue;
      const plan::late_spec& expected = own.bindings->results[r];
      shape found = expected.known.dims;
      for (int axis = 0; axis < found.rank; ++axis) {
        const extent e = own.found.extents[r * max_rank + static_cast<std::size_t>(axis)];
        const bool fits =
            found[axis] == dyn ? e >= 0 && (!expected.bounded || e <= expected.most.dims[axis]) : e == found[axis];
        if (!fits) plan::fail_found(expected, r, axis, e);
        found[axis] = e;
      }
      operand& o = step.outputs == 0 ? plan_.calls_[s].out : plan_.calls_[s].outs[r];
      o.dims = found;
      if (!expected.bounded && o.data == nullptr && found.elements() > 0)
        fail(status_code::internal, {"a kernel asked for no memory for its result"});
      dims(id) = found;
    }
  }

  [[nodiscard]] TAGMA_COLD raw_view fetched(std::size_t f) override {
    const ir::node_id id = tables_.fetches[f];
    const plan::plan_node& n = node(id);
    late_step& own = steps_[tables_.steps.size()];
    if (own.late && follows_[id]) {
      find_binding(tables_.steps.size(), own);
      if (const shape* const found = own.bindings->find(own, id)) return {address(n, f), n.spec.type, *found};
    }
    return {address(n, f), n.spec.type, dims(id)};
  }

  [[nodiscard]] std::uint64_t bound_as(std::size_t first, std::size_t end) const override {
    std::uint64_t h = moves_.load(memory_order::relaxed);
    for (std::size_t s = first; s < end; ++s)
      if (steps_[s].late && steps_[s].bindings) h = hash_combine(h, steps_[s].bindings->number);
    return h;
  }
  [[nodiscard]] std::size_t bytes() const override { return grown_bytes_.load(memory_order::relaxed); }

 private:
  enum class what : std::uint8_t { known, bounded, unbounded };
  struct late_step;

  /// A step with some extents before it.
  struct binding {
    owned<binding> next;
    heap_array<shape> dims;  ///< of what it follows, then of what it infers
    heap_array<plan::late_spec> results;
    owned<kernel_state> state;
    bool prepared = false;
    std::uint64_t number = 0;

    /// The extents of an operand, or nullptr if they are as they were when the plan was bound.
    [[nodiscard]] const shape* place(const late_step& own, std::int32_t k) const {
      const std::int32_t at = own.operand_at[k - own.first_operand];
      return at < 0 ? nullptr : &dims[at];
    }
    [[nodiscard]] const shape* find(const late_step& own, ir::node_id id) const {
      const std::int32_t at = position(own, id);
      return at < 0 ? nullptr : &dims[at];
    }
    [[nodiscard]] const shape& at(const late_step& own, ir::node_id id, const late_steps& all) const {
      const shape* const found = find(own, id);
      return found != nullptr ? *found : all.dims(id);
    }
  };
  struct results_of_step final : late_results {
    [[nodiscard]] std::byte* allocate(int r, const shape& dims) override { return plan->allocate(step, r, dims); }
    late_steps* plan = nullptr;
    std::size_t step = 0;
  };
  struct late_step {
    heap_array<ir::node_id> nodes;  ///< whose extents it follows, then those that it infers, in the order of the plan
    std::size_t sources = 0;        ///< how many of them it follows
    std::int32_t first_operand = 0;
    heap_array<std::int32_t> operand_at;  ///< of each operand, where its extents are; -1: they are known
    owned<binding> bindings;              ///< the last used first
    results_of_step found;
    std::uint64_t bound_as = 0;    ///< the number of the binding that its call has
    std::uint64_t seen_moves = 0;  ///< of blocks by then
    bool late = false;
    bool finds = false;
  };

  TAGMA_COLD explicit late_steps(Bound& plan)
      : plan_(plan),
        tables_(plan.plan_),
        late_(tables_.nodes.size()),
        follows_(tables_.nodes.size()),
        known_(tables_.nodes.size()),
        steps_(tables_.steps.size() + 1 + tables_.loops.size()) {}

  [[nodiscard]] const plan::plan_node& node(ir::node_id i) const { return tables_.nodes[i]; }
  [[nodiscard]] ir::node_id input(const plan::plan_node& n, int k) const { return tables_.inputs[n.first_input + k]; }
  [[nodiscard]] shape& dims(ir::node_id i) const { return plan_.dims_[i]; }
  [[nodiscard]] const shape& known_of(ir::node_id i) const { return late_[i] == what::known ? dims(i) : known_[i]; }
  [[nodiscard]] bool is_arena(ir::node_id i) const { return node(i).is_in(plan::storage_kind::arena); }
  [[nodiscard]] std::byte* address(const plan::plan_node& n, std::size_t f) const {
    return n.is_in(plan::storage_kind::arena) ? plan_.block_address_[n.slot] : plan_.fetch_address_[f];
  }
  [[nodiscard]] std::size_t result_count(std::size_t s) const {
    return tables_.steps[s].outputs == 0 ? 1 : static_cast<std::size_t>(tables_.steps[s].outputs);
  }
  [[nodiscard]] ir::node_id result(const plan::plan_step& step, std::size_t r) const {
    return step.outputs == 0 ? step.node
                             : tables_.operands[step.first_operand + step.operands + static_cast<std::int32_t>(r)];
  }

  template <class Inputs>
  [[nodiscard]] TAGMA_COLD const char* infer(const plan::plan_node& n, const plan::plan_node& of,
                                             plan::late_spec& found, const Inputs& inputs) const {
    return plan::infer_late(*of.op, of.inputs, inputs, plan_.attributes_of(of),
                            plan::inferred_output(tables_.attributes, n), n.spec, found);
  }

  // Which nodes a step has to know.

  [[nodiscard]] bool published_before(ir::node_id i, std::size_t s) const {
    const plan::plan_node& n = node(i);
    if (n.step < 0 || static_cast<std::size_t>(n.step) >= s) return false;
    const plan::plan_step& step = tables_.steps[n.step];
    if (step.node != i && !n.op->is(ir::op_kind::output)) return false;
    return s == tables_.steps.size() || plan_.graph().size() == 0 ||
           plan_.graph().ordered(static_cast<std::size_t>(n.step), s);
  }

  /// Steps are asked for once each; the number of steps stands for the fetches.
  TAGMA_COLD void collect(std::size_t s) {
    late_step& own = steps_[s];
    node_list list(tables_.nodes.size());
    if (s == tables_.steps.size()) {
      for (const ir::node_id f : tables_.fetches) visit(f, s, list);
    } else {
      const plan::plan_step& step = tables_.steps[s];
      own.finds = node(step.node).op->late;
      const ir::op_info& op = *node(step.main_node()).op;
      for (int k = 0; k < step.operands; ++k)
        visit(tables_.operands[step.first_operand + k], s, list, !step.fused && op.ignores_elements(k));
      visit(step.node, s, list);
      for (int r = 0; r < step.outputs; ++r)
        if (const ir::node_id id = tables_.operands[step.first_operand + step.operands + r]; id != ir::no_node)
          visit(id, s, list);
    }
    own.late = own.finds || list.sources + list.inferred > 0 || (s < tables_.steps.size() && touches_moving(s));
    keep(list, own);
    if (!own.late || s == tables_.steps.size()) return;
    const plan::plan_step& step = tables_.steps[s];
    own.first_operand = step.first_operand;
    own.operand_at.allocate(step.operands);
    for (int k = 0; k < step.operands; ++k) own.operand_at[k] = position(own, tables_.operands[step.first_operand + k]);
  }
  /// True if a step reads or writes what is in a block that may be elsewhere in the next run, though the extents of
  /// that are known: a result that lies over a tensor which somebody finds.
  [[nodiscard]] TAGMA_COLD bool touches_moving(std::size_t s) const {
    const auto moves = [&](ir::node_id i) { return i != ir::no_node && is_arena(i) && moving_[node(i).slot]; };
    const plan::plan_step& step = tables_.steps[s];
    bool any = moves(step.node);
    for (int k = 0; k < step.operands + step.outputs; ++k) any = any || moves(tables_.operands[step.first_operand + k]);
    return any;
  }
  /// A loop follows what its steps and rows follow, as if all were done where it begins.
  TAGMA_COLD void collect_loop(std::size_t l) {
    late_step& own = steps_[tables_.steps.size() + 1 + l];
    const plan::plan_loop& loop = tables_.loops[l];
    const auto first = static_cast<std::size_t>(loop.first);
    const auto is_inside = [&](std::size_t inner) {
      return tables_.loops[inner].first >= loop.first && tables_.loops[inner].end <= loop.end;
    };
    node_list list(tables_.nodes.size());
    for (std::size_t i = 0; i < tables_.loops.size(); ++i)
      if (is_inside(i)) visit(tables_.loops[i].head, first, list);
    for (const plan::plan_row& r : tables_.rows)
      if (is_inside(static_cast<std::size_t>(r.loop)) && r.rule != plan::row_rule::fixed) visit(r.node, first, list);
    for (std::size_t s = first; s < static_cast<std::size_t>(loop.end); ++s) {
      const plan::plan_step& step = tables_.steps[s];
      for (int k = 0; k < step.operands + step.outputs; ++k)
        if (const ir::node_id id = tables_.operands[step.first_operand + k]; id != ir::no_node) visit(id, first, list);
      visit(step.node, first, list);
    }
    for (const plan::plan_block& b : tables_.blocks)
      if (b.first >= loop.first && b.first < loop.end) visit(b.node, first, list);
    own.late = list.sources + list.inferred > 0;
    keep(list, own);
  }
  struct node_list;
  TAGMA_COLD static void keep(const node_list& list, late_step& own) {
    own.sources = list.sources;
    own.nodes.allocate(list.sources + list.inferred);
    for (std::size_t i = 0; i < own.nodes.size(); ++i)
      own.nodes[i] = i < list.sources ? list.source[i] : list.infer[i - list.sources];
  }
  struct node_list {
    explicit node_list(std::size_t size) : seen(size), source(size), infer(size) {}
    enum mark : std::uint8_t { unseen, shape_only, elements };
    heap_array<mark> seen;
    heap_array<ir::node_id> source, infer;
    std::size_t sources = 0, inferred = 0;
  };
  /// @param shape_only its elements are not read, so that its operation may not have run: what is known is not checked
  TAGMA_COLD void visit(ir::node_id i, std::size_t s, node_list& list, bool shape_only = false) const {
    const auto mark = shape_only ? node_list::shape_only : node_list::elements;
    if (list.seen[i] >= mark || !follows_[i] || (shape_only && late_[i] == what::known)) return;
    const bool is_new = list.seen[i] == node_list::unseen;
    list.seen[i] = mark;
    if (published_before(i, s)) {
      if (is_new && late_[i] != what::known) list.source[list.sources++] = i;
      return;
    }
    const plan::plan_node& of = plan::inferring(tables_.nodes, tables_.inputs, node(i));
    if (of.op->late && static_cast<std::size_t>(of.step) != s)
      fail(status_code::internal,
           {detail::describe(of), " finds extents that a step needs which does not wait for it"});
    for (int k = 0; k < of.inputs; ++k) visit(input(of, k), s, list, shape_only || of.op->ignores_elements(k));
    if (is_new && node(i).op->outputs == 0) list.infer[list.inferred++] = i;
  }
  [[nodiscard]] static std::int32_t position(const late_step& own, ir::node_id i) {
    for (std::size_t k = 0; k < own.nodes.size(); ++k)
      if (own.nodes[k] == i) return static_cast<std::int32_t>(k);
    return -1;
  }

  // Bindings.

  [[nodiscard]] bool fits(const late_step& own, const binding& b) const {
    for (std::size_t i = 0; i < own.sources; ++i)
      if (!(b.dims[i] == dims(own.nodes[i]))) return false;
    return true;
  }
  /// Puts the binding for the extents that were published in front.
  void find_binding(std::size_t s, late_step& own) {
    if (own.bindings && fits(own, *own.bindings)) return;
    owned<binding>* p = &own.bindings;
    for (; *p != nullptr; p = &(*p)->next)
      if (fits(own, **p)) return to_front(own, *p);
    make_binding(s, own);
    p = &own.bindings;
    for (int kept = 0; kept < most_kept && *p != nullptr; ++kept) p = &(*p)->next;
    *p = nullptr;
  }
  static void to_front(late_step& own, owned<binding>& p) {
    owned<binding> found = std::move(p);
    p = std::move(found->next);
    found->next = std::move(own.bindings);
    own.bindings = std::move(found);
  }

  TAGMA_COLD void make_binding(std::size_t s, late_step& own) {
    owned<binding> made(new binding);
    own.bound_as = 0;
    made->dims.allocate(own.nodes.size());
    for (std::size_t i = 0; i < own.sources; ++i) made->dims[i] = dims(own.nodes[i]);
    show_operands(s, own, *made);
    if (own.finds) made->results.allocate(result_count(s));
    for (std::size_t i = own.sources; i < own.nodes.size(); ++i) infer_node(s, own, *made, i);
    if (own.finds) {
      // Results that nobody reads may be found as well.
      for (std::size_t r = 0; r < made->results.size(); ++r)
        if (result(tables_.steps[s], r) == ir::no_node)
          for (extent& e : made->results[r].known.dims.extents) e = dyn;
    }
    made->number = numbers_.fetch_add(1, memory_order::relaxed) + 1;
    made->next = std::move(own.bindings);
    own.bindings = std::move(made);
  }
  /// So that an error tells what was there.
  TAGMA_COLD void show_operands(std::size_t s, const late_step& own, const binding& b) {
    for (std::size_t k = 0; k < own.operand_at.size(); ++k)
      if (const std::int32_t at = own.operand_at[k]; at >= 0 && static_cast<std::size_t>(at) < own.sources)
        plan_.calls_[s].in[k].dims = b.dims[at];
  }
  TAGMA_COLD void infer_node(std::size_t s, late_step& own, binding& b, std::size_t place) {
    const ir::node_id id = own.nodes[place];
    const plan::plan_node& n = node(id);
    const plan::plan_node& of = plan::inferring(tables_.nodes, tables_.inputs, n);
    plan::late_spec found;
    const char* problem = infer(n, of, found, [&](int k) {
      const ir::node_id in = input(of, k);
      const tensor_spec spec{node(in).spec.type, b.at(own, in, *this)};
      return plan::late_spec{spec, spec, true};
    });
    if (problem == nullptr && !of.op->late &&
        !(found.known.dims.is_known() && compatible(found.known.dims, n.spec.dims)))
      problem = "the result does not fit the declared one";
    if (problem == nullptr) problem = stretches(own, b, n, found.known.dims);
    const auto now = [&](ir::node_id in) { return b.at(own, in, *this); };
    if (problem != nullptr) fail(status_code::invalid_argument, text(of, problem, now));
    if (!is_addressable(found.most))
      fail_never_fits({text(of, "a result of more bytes than a process can address", now)});
    b.dims[place] = found.most.dims;
    if (own.finds && !is_operand_of(s, id))
      for (std::size_t r = 0; r < b.results.size(); ++r)
        if (result(tables_.steps[s], r) == id) b.results[r] = found;
  }
  [[nodiscard]] bool is_operand_of(std::size_t s, ir::node_id id) const {
    const plan::plan_step& step = tables_.steps[s];
    for (int k = 0; k < step.operands; ++k)
      if (tables_.operands[step.first_operand + k] == id) return true;
    return false;
  }
  /// As `bound_plan::check_stretching`.
  [[nodiscard]] TAGMA_COLD const char* stretches(const late_step& own, const binding& b, const plan::plan_node& n,
                                                 const shape& out) const {
    if (n.op->unstretched < 0) return nullptr;
    for (int k = 0; k < n.inputs; ++k) {
      if (n.op->ignores_elements(k)) continue;
      const ir::node_id in = input(n, k);
      const shape &declared = node(in).spec.dims, &actual = b.at(own, in, *this);
      for (int axis = 0; axis < actual.rank - n.op->unstretched; ++axis)
        if (declared[axis] != 1 && actual[axis] != out[axis + out.rank - actual.rank])
          return "a dynamic extent does not stretch";
    }
    return nullptr;
  }
  /// As `bound_plan::extents_text`.
  /// @param extents gives those of a node
  template <class Extents>
  [[nodiscard]] TAGMA_COLD std::string text(const plan::plan_node& n, std::string_view problem,
                                            const Extents& extents) const {
    std::string said = sentence({detail::describe(n), ": ", problem, "; its inputs are"});
    for (int k = 0; k < n.inputs; ++k) {
      const ir::node_id in = input(n, k);
      detail::append_spec(said, k == 0 ? " " : " and ", node(in).spec.type, extents(in));
    }
    return said;
  }
  TAGMA_COLD void prepare(std::size_t s, late_step& own, run_context context) {
    binding& b = *own.bindings;
    const bool of_device = plan_.device_of(s).number >= 0;
    if (of_device ? !plan_.is_transfer(s) : plan_.source_of(s).number < 0) {
      const kernel_entry& kernel = of_device ? plan_.device_kernels_[s] : plan_.kernels_[s];
      context.control = nullptr;
      context.trace = nullptr;
      if (!of_device) context = plan_.on_device(s, context);
      try {
        if (kernel.prepare != nullptr) b.state = kernel.prepare(plan_.calls_[s], context);
      } catch (const no_memory& e) {
        throw no_memory(e, plan_.step_text(s));
      }
    }
    b.prepared = true;
  }

  // Operands.

  void bind(std::size_t s, late_step& own, const run_context& context) {
    const binding& b = *own.bindings;
    const plan::plan_step& step = tables_.steps[s];
    if (!own.finds && is_arena(step.node)) make_room(s, step.node, b.at(own, step.node, *this));
    for (std::int32_t k = step.first_operand; k < step.first_operand + step.operands; ++k)
      set(plan_.operands_[k], tables_.operands[k], b.place(own, k));
    for (std::int32_t r = 0; r < step.outputs; ++r)
      if (const ir::node_id id = tables_.operands[step.first_operand + step.operands + r]; id != ir::no_node)
        set_output(s, plan_.operands_[step.first_operand + step.operands + r], id, own, b, r);
    kernel_args& call = plan_.calls_[s];
    if (own.finds && step.outputs == 0)
      set_result(call.out, step.node, own, b, 0);
    else if (const shape* const out = b.find(own, step.node); out != nullptr)
      set(call.out, step.node, out), dims(step.node) = *out;
    else if (step.outputs == 0)
      set(call.out, step.node, nullptr);
    if (own.finds)
      for (std::size_t r = 0; r < result_count(s); ++r)
        for (int axis = 0; axis < max_rank; ++axis)
          own.found.extents[r * max_rank + static_cast<std::size_t>(axis)] = b.results[r].known.dims[axis];
    if (!b.prepared) prepare(s, own, context);
    call.state = b.state.get();
  }

  /// @param found its extents; nullptr: they stay
  void set(operand& o, ir::node_id id, const shape* found) const {
    if (found != nullptr) o.dims = *found;
    if (is_arena(id)) o.data = plan_.block_address_[node(id).slot];
  }
  /// One of several results.
  void set_output(std::size_t s, operand& o, ir::node_id id, const late_step& own, const binding& b, std::int32_t r) {
    if (own.finds) return set_result(o, id, own, b, r);
    const shape* const found = b.find(own, id);
    if (found == nullptr) return set(o, id, nullptr);
    if (is_arena(id)) make_room(s, id, *found);
    set(o, id, found);
    dims(id) = *found;
  }
  void set_result(operand& o, ir::node_id id, const late_step& own, const binding& b, std::int32_t r) {
    const plan::late_spec& expected = b.results[r];
    if (expected.bounded) make_room(own.found.step, id, expected.most.dims);
    o.dims = expected.most.dims;
    o.data = expected.bounded ? plan_.block_address_[node(id).slot] : nullptr;
  }

  // Memory.

  /// Sees to it that the block of node `id`, which step `s` writes, has room. Nobody else uses it by then.
  void make_room(std::size_t s, ir::node_id id, const shape& dims) {
    const tensor_spec spec{node(id).spec.type, dims};
    const std::int64_t bytes = tagma::bytes_of(spec);
    if (bytes > capacity_[node(id).slot]) grow(s, node(id).slot, bytes);
  }
  TAGMA_COLD void grow(std::size_t s, std::int32_t b, std::int64_t bytes) {
    const plan::plan_block& block = tables_.blocks[b];
    if (static_cast<std::size_t>(block.first) != s)
      fail(status_code::internal, {plan_.step_text(s), ": what it writes over is too small"});
    if (grown_[b].size() > 0 || grown_on_device_[b]) {  // what was there goes first
      grown_bytes_.fetch_sub(static_cast<std::size_t>(capacity_[b]), memory_order::relaxed);
      capacity_[b] = 0;
      grown_[b] = {};
      grown_on_device_[b] = nullptr;
    }
    for (;;) {
      try {
        take_memory(s, b, bytes);
        break;
      } catch (...) {
        if (!is_lack_of_memory(std::current_exception()) || this->let_one_go == nullptr ||
            !this->let_one_go(this->from))
          throw;
      }
    }
    capacity_[b] = bytes;
    if (loop_steps* const loops = plan_.loops(); loops != nullptr) loops->rebase(b);
    moves_.fetch_add(1, memory_order::relaxed);
    grown_bytes_.fetch_add(static_cast<std::size_t>(bytes), memory_order::relaxed);
  }
  TAGMA_COLD void take_memory(std::size_t s, std::int32_t b, std::int64_t bytes) {
    const int device = plan_.device_at(tables_.blocks[b].device).number;
    if (plan_.accelerated_) {
      grown_on_device_[b] = plan_.others_->allocate(device, bytes, {plan_.step_text(s)});
      plan_.block_address_[b] = grown_on_device_[b]->data;
    } else {
      aligned_bytes room(static_cast<std::size_t>(bytes), std::nothrow);
      if (room.failed()) throw no_memory(bytes, plan_.step_text(s));
      grown_[b] = static_cast<aligned_bytes&&>(room);
      plan_.block_address_[b] = grown_[b].data();
    }
  }
  [[nodiscard]] TAGMA_COLD std::byte* allocate(std::size_t s, int r, const shape& wanted) {
    const plan::plan_step& step = tables_.steps[s];
    for (int axis = 0; axis < wanted.rank; ++axis) steps_[s].found.set(axis, wanted[axis], r);
    const ir::node_id id = result(step, static_cast<std::size_t>(r));
    if (id == ir::no_node) return nullptr;
    const tensor_spec spec{node(id).spec.type, wanted};
    if (wanted.rank != node(id).spec.dims.rank || !wanted.is_known() || !is_addressable(spec))
      fail(status_code::internal, {"a kernel asks for a result of ", to_string(wanted)});
    make_room(s, id, wanted);
    operand& o = step.outputs == 0 ? plan_.calls_[s].out : plan_.calls_[s].outs[r];
    o.dims = wanted;
    return o.data = plan_.block_address_[node(id).slot];
  }

  Bound& plan_;
  const plan::plan_view& tables_;
  heap_array<what> late_;     // of each node
  heap_array<bool> follows_;  // of each node: it, or an input of it, is late
  heap_array<shape> known_;   // of those that are late, when the plan is bound
  heap_array<late_step> steps_;
  heap_array<std::int64_t> capacity_;  // of each block
  heap_array<aligned_bytes> grown_;    // those that are not in an arena any more
  heap_array<owned<memory_block>> grown_on_device_;
  heap_array<bool> moving_;  // of each block: it may be elsewhere in the next run
  atomic<std::size_t> grown_bytes_{0};
  atomic<std::uint64_t> numbers_{0}, moves_{0};
  aligned_bytes words_;
  owned<memory_block> shared_words_;
};

}  // namespace tagma::runtime
