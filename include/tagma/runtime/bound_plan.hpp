// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A plan with the extents of a run: shapes inferred and checked, memory placed, kernels prepared. Made on the first
/// run with given extents and used again, so that later runs allocate nothing.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/expr/variable.hpp"
#include "tagma/plan/memory.hpp"
#include "tagma/plan/transfer.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/device.hpp"
#include "tagma/runtime/plan_text.hpp"
#include "tagma/runtime/scalar.hpp"
#include "tagma/runtime/session_state.hpp"
#include "tagma/runtime/step_runner.hpp"
#include "tagma/runtime/trace.hpp"
#include "tagma/runtime/variable_access.hpp"
#include "tagma/runtime/variable_steps.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma::runtime {

template <class Bound>
class late_steps;

/// One set of buffers and prepared kernels; used by one run at a time.
class bound_plan {
 public:
  /// @param others the devices that are no CPUs, or nullptr
  TAGMA_COLD bound_plan(const plan::plan_view& plan, const kernel_tables& kernels, array_view<const raw_view> feeds,
                        const session_state& state, const carried& values, const run_context& context,
                        const device_table& devices, accelerator* others)
      : bound_plan(plan, kernels, devices, others) {
    dims_.allocate(plan.nodes.size());
    if (kernels.late != nullptr) late_ = kernels.late(*this);
    plain_ = devices.size() == 1 && !late_;
    feed_dims_.allocate(feeds.size());
    for (std::size_t i = 0; i < feeds.size(); ++i) feed_dims_[i] = feeds[i].dims;
    look_at_steps(state.variables);
    infer_extents(feeds);
    if (loops_of_ != nullptr) loops_ = loops_of_(*this);
    if (accelerated_) memory_ = others_->memory_of(*this);
    if (by_plan_) {
      runner_.set_plan(plan_, loops_ && loops_->joined);
      if (waiting_ != nullptr) waits_ = waiting_(*this, nullptr, true);
    } else if (!loops_ || asynchronous_) {
      share_steps(*context.threads, context.step_threads, state.access == nullptr);
    }
    place_memory();
    store_scalars(values);
    make_calls(state, values);
    const access_function make = state.access == nullptr && waits_ ? waits_->access() : state.access;
    if (uses_variables_ && make != nullptr) access_ = make(*this, state.variables);
    states_.allocate(plan_.steps.size());
    if (late_) late_->bind();
    for (std::size_t s = 0; s < calls_.size(); ++s)
      if (device_of(s).number < 0 && !is_late(s)) prepare(s, kernels_[s], on_device(s, context));
    if (accelerated_) device_steps_ = others_->bind(*this, context);
  }

  bound_plan(const bound_plan&) = delete;
  bound_plan& operator=(const bound_plan&) = delete;
  TAGMA_COLD ~bound_plan() = default;

  /// True if the plan was bound for feeds of these extents.
  [[nodiscard]] bool matches(array_view<const raw_view> feeds) const {
    for (std::size_t i = 0; i < feeds.size(); ++i)
      if (!(feeds[i].dims == feed_dims_[i])) return false;
    return true;
  }

  /// Points the operands at the feeds of this run.
  void patch(array_view<const raw_view> feeds) {
    for (const patch_place& p : array_view<patch_place>(patches_.data() + 1, feed_patches_))
      *p.where = const_cast<std::byte*>(static_cast<const std::byte*>(feeds[p.index].data));
    if (memory_) memory_->stage(feeds);
  }

  [[nodiscard]] std::size_t step_count() const { return calls_.size(); }
  /// What runs the steps in an order of its own, or nullptr where the order of the plan will do.
  [[nodiscard]] step_runner* shared_steps() { return runner_.shares() || asynchronous_ ? &runner_ : nullptr; }
  /// What runs the steps if some of them are done more than once, else nullptr.
  [[nodiscard]] loop_steps* loops() const { return loops_.get(); }
  /// What runs the steps if some of them are on devices that are no CPUs, else nullptr.
  [[nodiscard]] accelerated_steps* device_steps() const { return device_steps_.get(); }
  /// True if a step may wait without a thread, and `shared_steps` runs the steps.
  [[nodiscard]] bool asynchronous() const { return asynchronous_; }
  /// What begins such steps if devices do the others, else nullptr.
  [[nodiscard]] const waiting_steps* waits_on_devices() const { return asynchronous_ ? nullptr : waits_.get(); }
  /// True if a step or a fetch needs a variable.
  [[nodiscard]] bool uses_variables() const { return uses_variables_; }
  void run_step(std::size_t s, const run_context& context) {
    if (context.trace == nullptr && plain_) return kernels_[s].run(calls_[s], context);
    run_late_or_traced(s, context);
  }
  /// True if step `s` is bound in each run, to extents that other steps find; if its kernel finds some itself.
  [[nodiscard]] bool is_late(std::size_t s) const { return late_ && late_->is_late(s); }
  [[nodiscard]] bool finds_extents(std::size_t s) const { return late_ && late_->finds(s); }
  /// Goes before a step, and behind one that finds extents.
  void begin_late(std::size_t s, const run_context& context) {
    if (late_) late_->begin(s, context);
  }
  void end_late(std::size_t s) const { late_->end(s); }
  [[nodiscard]] late_extents* late() const { return late_.get(); }
  /// The first step that needs a variable; as many as there are steps if only a fetch does, or nothing.
  [[nodiscard]] std::size_t first_with_variable() const { return first_with_variable_; }
  /// What a run does about variables beside waiting its turn; nullptr where that is all.
  [[nodiscard]] variable_access* access() const { return access_.get(); }
  /// The same where each step is told of by itself.
  [[nodiscard]] variable_access* step_access() const { return by_plan_ ? nullptr : access_.get(); }
  /// Operands are where the current versions are. Only where nobody updates them meanwhile.
  void follow(array_view<const counted<stored_variable>> variables) {
    const std::uint64_t moves = stored_variable::moves();
    if (moves == seen_moves_) return;
    for (std::size_t i = 0; i < variable_patch_.size(); ++i)
      if (variable_patch_[i] != 0) move_variable(i, variables[i]->data());
    seen_moves_ = moves;
  }
  /// Points the operands at variable `slot`.
  void move_variable(std::size_t slot, std::byte* data) {
    if (variable_patch_[slot] == 0 || *patches_[variable_patch_[slot]].where == data) return;
    for (std::int32_t p = variable_patch_[slot]; p != 0; p = patches_[p].index) *patches_[p].where = data;
    ++moved_;
  }
  /// Another number whenever an operand has moved that is no feed.
  [[nodiscard]] std::uint64_t moved() const { return moved_; }
  /// The variables that a run writes.
  [[nodiscard]] array_view<stored_variable* const> written() const { return {written_.data(), written_count_}; }
  /// Begins an asynchronous step.
  void start_step(std::size_t s, const run_context& context, completion done) { waits_->start(s, context, done); }
  // For whoever runs the steps of devices:

  [[nodiscard]] const kernel_args& call(std::size_t s) const { return calls_[s]; }
  [[nodiscard]] kernel_args& call(std::size_t s) { return calls_[s]; }
  [[nodiscard]] const shape& dims_of(ir::node_id id) const { return dims_[id]; }
  [[nodiscard]] std::byte* block_address(std::int32_t b) const { return block_address_[b]; }
  [[nodiscard]] const kernel_entry& device_kernel(std::size_t s) const { return device_kernels_[s]; }
  [[nodiscard]] const session_device& device_of(std::size_t s) const {
    return device_at(plan_.nodes[plan_.steps[s].node].device);
  }
  [[nodiscard]] bool is_transfer(std::size_t s) const {
    return plan_.nodes[plan_.steps[s].node].op == &ir::info<plan::transfer>;
  }
  /// Where a transfer comes from; of any other step, its own device.
  [[nodiscard]] const session_device& source_of(std::size_t s) const {
    return is_transfer(s) ? device_at(plan_.nodes[plan_.operands[plan_.steps[s].first_operand]].device) : device_of(s);
  }
  [[nodiscard]] const session_device& device_at(std::int16_t d) const { return devices_[d]; }
  [[nodiscard]] const kernel_entry& kernel(std::size_t s) const { return kernels_[s]; }
  [[nodiscard]] bool is_asynchronous(std::size_t s) const { return kernels_[s].start != nullptr; }
  /// Which step waits for which.
  [[nodiscard]] const plan::step_graph& graph() const { return runner_.graph(); }
  [[nodiscard]] double cost_of(std::size_t s) const { return cost(plan_.steps[s]); }
  TAGMA_COLD void prepare(std::size_t s, const kernel_entry& kernel, const run_context& context) {
    if (kernel.prepare == nullptr) return;
    try {
      states_[s] = kernel.prepare(calls_[s], context);
    } catch (const no_memory& e) {
      throw no_memory(e, step_text(s));
    }
    calls_[s].state = states_[s].get();
  }
  TAGMA_COLD void add_to_trace(std::size_t s, trace_sink& trace, const device_spec& device, std::uint64_t run,
                               std::string_view queue, std::int64_t begin_ns, std::int64_t end_ns) const {
    const plan::plan_step& step = plan_.steps[s];
    const kernel_args& call = calls_[s];
    trace.add({plan_.nodes[step.main_node()],
               device,
               queue,
               step.fused && step.before == ir::no_node,
               {call.in.data(), call.in.size()},
               call.out,
               run,
               begin_ns,
               end_ns});
  }
  /// "matmul 'hidden/kernel' on /device:GPU:0 of float32 [2, 3] and float32 [3, 4]".
  [[nodiscard]] TAGMA_COLD std::string step_text(std::size_t s) const {
    const plan::plan_step& step = plan_.steps[s];
    const plan::plan_node& n = plan_.nodes[step.main_node()];
    std::string text = sentence({detail::describe(n), step.before == ir::no_node ? "" : " with the loop behind it",
                                 " on ", short_name(device_at(n.device).name)});
    const char* before = " of ";
    for (const operand& o : calls_[s].in) {
      detail::append_spec(text, before, o.type, o.dims);
      before = " and ";
    }
    return text;
  }

  /// The error of a step in words that name it: operation, device, what it was given.
  [[nodiscard]] TAGMA_COLD std::exception_ptr named(std::size_t s, std::exception_ptr error_of_kernel) const noexcept {
    const caught seen(error_of_kernel);
    if (!seen.is_known) return error_of_kernel;
    try {
      fail(seen.code, {step_text(s), ": ", without_code(seen.what)});
    } catch (...) {
      return std::current_exception();
    }
  }

  /// Where the value of fetch `f` is after a run.
  [[nodiscard]] raw_view fetched(std::size_t f) const {
    if (late_) return late_->fetched(f);
    const ir::node_id id = plan_.fetches[f];
    return {fetch_address_[f], plan_.nodes[id].spec.type, dims_[id]};
  }
  /// Bytes of the value of a node.
  [[nodiscard]] std::int64_t bytes_of(ir::node_id id) const {
    return tagma::bytes_of({plan_.nodes[id].spec.type, dims_[id]});
  }
  [[nodiscard]] std::int64_t block_bytes(const plan::plan_block& b) const {
    return plan::bytes_of_block(
        b, [this](ir::node_id id) { return dims_[id]; }, [this](ir::node_id id) { return bytes_of(id); });
  }
  /// " (its largest tensors: matmul #5 float32 [64, 10] 2560 bytes, ...)", for the error where there is no room.
  [[nodiscard]] TAGMA_COLD std::string largest_tensors(std::int16_t d) const {
    constexpr std::size_t most = 3;
    std::size_t largest[most + 1], count = 0;
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
      if (plan_.blocks[b].device != d) continue;
      const std::int64_t size = bytes_of(plan_.blocks[b].node);
      std::size_t k = count;
      for (; k > 0 && bytes_of(plan_.blocks[largest[k - 1]].node) < size; --k) largest[k] = largest[k - 1];
      largest[k] = b;
      if (count < most) ++count;
    }
    std::string text;
    for (std::size_t k = 0; k < count; ++k) {
      const ir::node_id id = plan_.blocks[largest[k]].node;
      append_parts(text, {k == 0 ? " (its largest tensors: " : ", ", detail::describe(plan_.nodes[id])});
      detail::append_spec(text, " ", plan_.nodes[id].spec.type, dims_[static_cast<std::size_t>(id)]);
      append_parts(text, {" ", bytes_of(id), k + 1 == count ? " bytes)" : " bytes"});
    }
    return text;
  }
  /// Bytes of the arenas of all devices.
  [[nodiscard]] std::size_t arena_bytes() const { return late_ ? arena_bytes_ + late_->bytes() : arena_bytes_; }
  [[nodiscard]] std::size_t feeds() const { return feed_dims_.size(); }
  [[nodiscard]] const plan::plan_view& plan() const { return plan_; }

  owned<bound_plan> next;  ///< for lists of idle plans

  /// Records a run of step `s`, which began then and ended now.
  TAGMA_COLD void add_to_trace(std::size_t s, const run_context& context, std::int64_t begin) const {
    add_to_trace(s, *context.trace, device_of(s).name, context.step, {}, begin, now_ns());
  }

 private:
  template <class Bound>
  friend class late_steps;
  // A function of its own, so that `run_step` is a part of its caller.
  [[gnu::noinline]] void run_late_or_traced(std::size_t s, const run_context& context) {
    begin_late(s, context);
    const std::int64_t begin = context.trace == nullptr ? 0 : now_ns();
    kernels_[s].run(calls_[s], on_device(s, context));
    if (finds_extents(s)) end_late(s);
    if (context.trace != nullptr) add_to_trace(s, context, begin);
  }

  // What throws behind it is cleaned up by the destructor, not by code of its own for each member.
  bound_plan(const plan::plan_view& plan, const kernel_tables& kernels, const device_table& devices,
             accelerator* others)
      : plan_(plan),
        kernels_(kernels.cpu),
        device_kernels_(kernels.accelerator),
        devices_(devices),
        others_(others),
        waiting_(kernels.waiting),
        loops_of_(kernels.loops) {}

  struct patch_place {
    std::byte** where = nullptr;
    std::int32_t index = 0;  ///< of the feed; of a variable, of the next place that has it
  };

  [[nodiscard]] array_view<const ir::node_id> inputs_of(const plan::plan_node& n) const {
    return plan_.inputs.subspan(n.first_input, n.inputs);
  }
  [[nodiscard]] ir::attribute_list attributes_of(const plan::plan_node& n) const {
    return plan_.attributes.subspan(n.first_attribute, n.attribute_count);
  }

  /// What kinds of step there are.
  TAGMA_COLD void look_at_steps(array_view<const counted<stored_variable>> variables) {
    written_.allocate(variables.size());
    for (const plan::plan_node& node : plan_.nodes)
      uses_variables_ = uses_variables_ || node.is_in(plan::storage_kind::variable);
    first_with_variable_ = plan_.steps.size();
    for (std::size_t s = plan_.steps.size(); s-- > 0;) {
      accelerated_ = accelerated_ || device_of(s).number >= 0 || source_of(s).number >= 0;
      if (needs_variable(plan_, plan_.steps[s])) first_with_variable_ = s;
      each_written(plan_, plan_.steps[s], [&](std::int32_t slot, int) {
        stored_variable* const v = variables[slot].get();
        std::size_t i = 0;
        while (i < written_count_ && written_[i] != v) ++i;
        if (i == written_count_) written_[written_count_++] = v;
      });
    }
    if (counts_early(plan_)) first_with_variable_ = 0;
    asynchronous_ = waiting_ != nullptr && (!accelerated_ || loops_of_ != nullptr);
    by_plan_ = accelerated_ && !asynchronous_;  // devices do the steps, in the order of the plan
  }

  TAGMA_COLD void infer_extents(array_view<const raw_view> feeds) {
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      const plan::plan_node& n = plan_.nodes[i];
      dims_[i] = n.spec.dims;
      if (n.op->is(ir::op_kind::placeholder)) {
        const raw_view& fed = feeds[n.slot];
        if (fed.type == dtype::none) continue;  // not fed: its extents are static, and nothing else of it is needed
        dims_[i] = fed.dims;
        if (!fed.dims.is_known() || !compatible(n.spec.dims, fed.dims))
          fail(status_code::invalid_argument, {"feed of ", detail::describe(n), " has shape ", to_string(dims_[i]),
                                               ", which does not fit ", to_string(n.spec.dims)});
      } else if (!(late_ && late_->infer(static_cast<ir::node_id>(i))) && has_dynamic_input(n)) {
        dims_[i] = infer(n);
        check_stretching(n, dims_[i]);
      }
      if (!is_addressable({n.spec.type, dims_[i]})) fail_size(n, dims_[i]);
    }
  }

  [[nodiscard]] TAGMA_COLD bool has_dynamic_input(const plan::plan_node& n) const {
    if (n.op->is(ir::op_kind::control) || n.op->outputs > 0) return false;
    for (const auto i : inputs_of(plan::inferring(plan_.nodes, plan_.inputs, n)))
      if (!plan_.nodes[i].spec.dims.is_static()) return true;
    return !n.spec.dims.is_static();
  }

  /// Of the inputs of a node in this run.
  [[nodiscard]] TAGMA_COLD heap_array<tensor_spec> input_specs(const plan::plan_node& n) const {
    const auto inputs = inputs_of(n);
    heap_array<tensor_spec> in(inputs.size());
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = {plan_.nodes[inputs[k]].spec.type, dims_[inputs[k]]};
    return in;
  }

  /// The extents of a node in this run; they must fit what the compiler knew.
  [[nodiscard]] TAGMA_COLD shape infer(const plan::plan_node& n) const {
    const plan::plan_node& of = plan::inferring(plan_.nodes, plan_.inputs, n);
    const heap_array<tensor_spec> in = input_specs(of);
    ir::infer_args args{in, attributes_of(of), {}, plan::inferred_output(plan_.attributes, n)};
    if (const char* problem = of.op->infer(args)) fail(status_code::invalid_argument, extents_text(of, problem));
    if (!args.out.dims.is_known() || !compatible(args.out.dims, n.spec.dims))
      fail(status_code::invalid_argument, extents_text(n, sentence({"the result does not fit ", to_string(n.spec)})));
    return args.out.dims;
  }

  [[noreturn]] TAGMA_COLD void fail_size(const plan::plan_node& n, const shape& dims) const {
    const std::string size = sentence({size_text({n.spec.type, dims}), ", more than a process can address"});
    if (n.inputs == 0) fail_never_fits({"feed of ", detail::describe(n), " is ", size});
    fail_never_fits({extents_text(n, sentence({"a result of ", size}))});
  }

  /// An extent that varies never stretches, even if it happens to be 1: the loops are made for the declared shapes.
  TAGMA_COLD void check_stretching(const plan::plan_node& n, const shape& out) {
    if (n.op->unstretched < 0) return;
    int k = 0;
    for (const auto i : inputs_of(n)) {
      if (n.op->ignores_elements(k++)) continue;
      const shape& declared = plan_.nodes[i].spec.dims;
      const shape& actual = dims_[i];
      for (int axis = 0; axis < actual.rank - n.op->unstretched; ++axis)
        if (declared[axis] != 1 && actual[axis] != out[axis + out.rank - actual.rank])
          fail(status_code::invalid_argument, extents_text(n, "a dynamic extent does not stretch"));
    }
  }

  [[nodiscard]] TAGMA_COLD std::string extents_text(const plan::plan_node& n, std::string_view problem) const {
    std::string text = sentence({detail::describe(n), ": ", problem, "; its inputs are"});
    const char* before = " ";
    for (const auto i : inputs_of(n)) {
      detail::append_spec(text, before, plan_.nodes[i].spec.type, dims_[i]);
      before = " and ";
    }
    return text;
  }

  /// The context with the threads of the device of step `s`.
  [[nodiscard]] run_context on_device(std::size_t s, run_context context) const {
    context.threads = device_of(s).threads.get();
    return context;
  }
  /// Nanoseconds that a step takes on one thread, roughly: 8 bytes a nanosecond move, 20 products are formed.
  [[nodiscard]] TAGMA_COLD double cost(const plan::plan_step& step) const {
    const plan::plan_node& n = plan_.nodes[step.main_node()];
    const auto bytes = [this](ir::node_id id) { return static_cast<double>(bytes_of(id)); };
    double moved = bytes(step.node), products = 0;
    for (int k = 0; k < step.operands + step.outputs; ++k)
      if (const ir::node_id id = plan_.operands[step.first_operand + k]; id != ir::no_node) moved += bytes(id);
    if (n.op->work != nullptr) {
      const heap_array<tensor_spec> in = input_specs(n);
      products = n.op->work({in, attributes_of(n), {n.spec.type, dims_[step.main_node()]}});
    }
    return 200 + moved / 8 + products / 20;
  }

  /// Makes a runner where threads that take a step each are quicker than all at one, or where a step may wait.
  TAGMA_COLD void share_steps(const executor& e, int threads, bool apart) {
    const std::size_t n = plan_.steps.size();
    if (!asynchronous_ && (threads < 2 || n < 2 || n > most_shared_steps)) return;
    runner_.set_plan(plan_, static_cast<bool>(loops_));
    if (asynchronous_) waits_ = waiting_(*this, &runner_, apart);
    double work = 0, in_order = 0;
    for (std::size_t s = n; s-- > 0;) {
      const double own = cost(plan_.steps[s]);
      runner_.set_cost(s, own);
      work += own;
      in_order += e.threads() < 2 || own < shared_kernel ? own : shared_kernel / 4 + own / e.threads();
    }
    // No greedy order takes longer than this (R. L. Graham, Bounds on Multiprocessing Timing Anomalies, 1969).
    const double together = (work - runner_.longest_chain()) / threads + runner_.longest_chain();
    if (!loops_ && together + start_of_sharing < 0.9 * in_order)
      runner_.set_threads(threads);
    else if (!asynchronous_)
      runner_.forget_plan();
  }
  static constexpr std::size_t most_shared_steps = 4096;  // the order of steps takes a bit for each pair of them
  static constexpr double start_of_sharing = 10e3;        // ns, until another thread is awake
  static constexpr double shared_kernel = 40e3;           // ns, from which a kernel is split among threads

  TAGMA_COLD void place_memory() {
    const std::size_t count = plan_.blocks.size();
    const heap_array<std::int64_t> numbers(2 * count);
    const array_view<std::int64_t> bytes(numbers.data(), count), offsets(numbers.data() + count, count);
    const heap_array<std::int32_t> live(count);
    for (std::size_t b = 0; b < count; ++b) bytes[b] = block_bytes(plan_.blocks[b]);
    block_address_.allocate(count);
    arenas_.allocate(devices_.size());
    for (std::size_t d = 0; d < arenas_.size(); ++d) {
      const auto device = static_cast<std::int16_t>(d);
      const std::int64_t size = shared_steps() != nullptr || accelerated_
                                    ? runner_.graph().place_blocks(bytes, offsets, device)
                                    : plan::plan_memory(plan_.blocks, bytes, offsets, live, device);
      if (size == too_many) fail_arena(device, size);
      arena_bytes_ += static_cast<std::size_t>(size);
      std::byte* const begin = accelerated_ ? memory_->arena(device, size) : allocate_arena(device, size);
      for (std::size_t b = 0; b < count; ++b)
        if (plan_.blocks[b].device == device) block_address_[b] = begin + offsets[b];
    }
  }
  [[nodiscard]] TAGMA_COLD std::byte* allocate_arena(std::int16_t device, std::int64_t size) {
    aligned_bytes& arena = arenas_[device];
    arena = aligned_bytes(static_cast<std::size_t>(size), std::nothrow);
    if (arena.failed()) fail_arena(device, size);
    return arena.data();
  }
  [[noreturn]] TAGMA_COLD void fail_arena(std::int16_t device, std::int64_t size) const {
    const std::string largest = largest_tensors(device);
    if (size != too_many) throw no_memory(size, sentence({"its arena", largest}));
    fail_never_fits({detail::describe(plan_), largest, " takes more than 2^56 bytes, which no process can address"});
  }
  TAGMA_COLD void store_scalars(const carried& values) {
    std::size_t count = 0;
    for (const plan::plan_node& n : plan_.nodes) count += n.op->is_number();
    scalars_ = aligned_bytes(count * 16);
    for (const plan::plan_node& n : plan_.nodes) {
      if (!n.op->is_number()) continue;  // a view of one has its storage
      std::byte* const to = scalars_.data() + 16 * n.slot;
      if (n.op->is(ir::op_kind::constant)) {
        detail::store_scalar(to, n.spec.type, ir::as_double(attributes_of(n)[0]));
      } else {
        const carried_value* value = values.find(n.value);
        if (value == nullptr)
          fail(status_code::internal, "a scalar of the program has no value: was a handle moved out of its closure?");
        detail::store_scalar(to, n.spec.type, value->number, value->integer);
      }
    }
  }

  /// @param d the device that reads or writes it
  [[nodiscard]] TAGMA_COLD std::byte* address(const plan::plan_node& n, const session_state& state, std::int16_t d) {
    switch (n.storage) {
      case plan::storage_kind::arena:
        return block_address_[n.slot];
      case plan::storage_kind::variable:
        return state.variables[n.slot]->data();
      case plan::storage_kind::resource:
        return reinterpret_cast<std::byte*>(state.resources[n.slot].get());
      case plan::storage_kind::literal:
      case plan::storage_kind::constant:
        return (device_at(d).number < 0 ? scalars_.data() : memory_->scalars(d, scalars_)) + 16 * n.slot;
      default:
        return nullptr;
    }
  }

  TAGMA_COLD void make_calls(const session_state& state, const carried& values) {
    operands_.allocate(plan_.operands.size());
    declared_.allocate(plan_.operands.size());
    calls_.allocate(plan_.steps.size());
    fetch_address_.allocate(plan_.fetches.size());
    patches_.allocate(operands_.size() + calls_.size() + fetch_address_.size() + plan_.rows.size() + 1);
    variable_patch_.allocate(state.variables.size());
    auto last = static_cast<std::int32_t>(patches_.size());
    const auto patch_variable = [&](std::byte*& where, const plan::plan_node& n) {
      std::int32_t& first = variable_patch_[n.slot];
      patches_[--last] = {&where, first};
      first = last;
    };
    const auto fill = [&](operand& o, ir::node_id id, std::int16_t device) {
      const plan::plan_node& n = plan_.nodes[id];
      o = {address(n, state, device), n.spec.type, dims_[id]};
      if (n.is_in(plan::storage_kind::variable)) patch_variable(o.data, n);
      if (n.is_in(plan::storage_kind::row)) loops_->follow(n.slot, &o.data);
      if (!n.is_in(plan::storage_kind::feed)) return;
      if (device_at(device).number >= 0)
        o.data = memory_->feed(id);
      else
        patches_[++feed_patches_] = {&o.data, n.slot};
    };
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const plan::plan_step& step = plan_.steps[s];
      const plan::plan_node& n = plan_.nodes[step.node];
      const std::int32_t first = step.first_operand, count = step.operands;
      for (std::int32_t k = first; k < first + count; ++k) {
        fill(operands_[k], plan_.operands[k], n.device);
        declared_[k] = plan_.nodes[plan_.operands[k]].spec.dims;
      }
      kernel_args& call = calls_[s];
      call.recipe = kernels_[s].recipe;
      fill(call.out, step.node, n.device);
      call.in = array_view<operand>(operands_).subspan(first, count);
      if (step.outputs > 0) {
        call.outs = array_view<operand>(operands_).subspan(first + count, step.outputs);
        for (std::int32_t k = first + count; k < first + count + step.outputs; ++k)
          if (plan_.operands[k] != ir::no_node) fill(operands_[k], plan_.operands[k], n.device);
      }
      call.attributes = attributes_of(plan_.nodes[step.main_node()]);
      call.declared_out = n.spec.dims, call.source = n.source;
      call.declared = array_view<const shape>(declared_).subspan(first, count);
      call.value = values.find(n.value);
    }
    for (std::size_t f = 0; f < plan_.fetches.size(); ++f) {
      const plan::plan_node& n = plan_.nodes[plan_.fetches[f]];
      fetch_address_[f] = address(n, state, 0);
      if (n.is_in(plan::storage_kind::feed)) patches_[++feed_patches_] = {&fetch_address_[f], n.slot};
      if (n.is_in(plan::storage_kind::variable)) patch_variable(fetch_address_[f], n);
      if (n.is_in(plan::storage_kind::row)) loops_->follow(n.slot, &fetch_address_[f]);
    }
    for (std::size_t r = 0; r < plan_.rows.size(); ++r) {
      const plan::plan_row& row = plan_.rows[r];
      if (row.base == ir::no_node)
        loops_->base(r).data = block_address_[row.slot];
      else if (accelerated_ && row.rule == plan::row_rule::element &&
               plan_.nodes[row.base].is_in(plan::storage_kind::feed))
        loops_->base(r).data = memory_->feed(row.base);  // a device may read its rows
      else
        fill(loops_->base(r), row.base, plan_.nodes[row.node].device);
    }
    if (loops_) loops_->finish();
  }

  const plan::plan_view& plan_;
  array_view<const kernel_entry> kernels_;
  array_view<const kernel_entry> device_kernels_;
  const device_table& devices_;
  accelerator* others_;
  owned<waiting_steps> (*waiting_)(bound_plan&, step_runner*, bool);
  owned<loop_steps> (*loops_of_)(bound_plan&);
  heap_array<shape> feed_dims_;
  heap_array<shape> dims_;
  step_runner runner_;
  owned<accelerated_memory> memory_;  // instead of arenas, if there are steps on devices that are no CPUs
  heap_array<aligned_bytes> arenas_;  // one a device
  std::size_t arena_bytes_ = 0;
  heap_array<std::byte*> block_address_;
  aligned_bytes scalars_;
  heap_array<operand> operands_;
  heap_array<shape> declared_;
  heap_array<kernel_args> calls_;
  heap_array<owned<kernel_state>> states_;
  owned<late_extents> late_;    // where kernels find extents
  bool plain_ = false;          // one device, and nothing is bound late
  owned<waiting_steps> waits_;  // where there are asynchronous ones
  bool asynchronous_ = false, accelerated_ = false, uses_variables_ = false, by_plan_ = false;
  heap_array<std::byte*> fetch_address_;
  heap_array<patch_place> patches_;
  std::size_t feed_patches_ = 0;             // from the second on
  heap_array<std::int32_t> variable_patch_;  // the first of each variable, or 0
  heap_array<stored_variable*> written_;
  std::size_t written_count_ = 0;
  std::size_t first_with_variable_ = 0;
  std::uint64_t seen_moves_ = ~std::uint64_t{0};
  std::uint64_t moved_ = 0;
  owned<variable_access> access_;
  owned<accelerated_steps> device_steps_;
  owned<loop_steps> loops_;
};

}  // namespace tagma::runtime
