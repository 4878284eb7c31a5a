// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of bound_plan.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/bound_plan.hpp"

namespace tagma::ir {
struct keep;
}

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL bound_plan::bound_plan(const plan::plan_view& plan, const kernel_tables& kernels,
                                             array_view<const raw_view> feeds, const session_state& state,
                                             const carried& values, const run_context& context,
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
    runner_.set_plan(plan_, loops_ && loops_->joined ? loops_.get() : nullptr);
    if (waiting_ != nullptr) waits_ = waiting_(*this, nullptr, true);
  } else if (!loops_ || asynchronous_) {
    share_steps(*context.threads, context.step_threads, state.access == nullptr);
  }
  place_memory();
  store_scalars(values);
  make_calls(state, values);
  const access_function make = state.access == nullptr && waits_ ? waits_->access() : state.access;
  if (uses_variables_ && make != nullptr) access_ = make(*this, state.variables);
  states_.allocate(plan_.steps.size() + 1);
  if (late_) late_->bind();
  for (std::size_t s = 0; s < calls_.size(); ++s)
    if (device_of(s).number < 0 && !is_late(s)) prepare(s, kernels_[s], on_device(s, context));
  if (accelerated_) device_steps_ = others_->bind(*this, context);
  if (kernels.rows != nullptr) kernels.rows(*this, context);
}

TAGMA_DECL bool bound_plan::matches(array_view<const raw_view> feeds) const {
  for (std::size_t i = 0; i < feeds.size(); ++i)
    if (!(feeds[i].dims == feed_dims_[i])) return false;
  return true;
}

TAGMA_DECL void bound_plan::patch(array_view<const raw_view> feeds) {
  for (const patch_place& p : array_view<patch_place>(patches_.data() + 1, feed_patches_))
    *p.where = const_cast<std::byte*>(static_cast<const std::byte*>(feeds[p.index].data));
  if (memory_) memory_->stage(feeds);
}

TAGMA_DECL void bound_plan::run_step(std::size_t s, const run_context& context) {
  if (context.trace == nullptr && plain_) return kernels_[s].run(calls_[s], context);
  run_late_or_traced(s, context);
}

TAGMA_DECL void bound_plan::begin_late(std::size_t s, const run_context& context) {
  if (late_) late_->begin(s, context);
}

TAGMA_DECL void bound_plan::follow(array_view<const counted<stored_variable>> variables) {
  const std::uint64_t moves = stored_variable::moves();
  if (moves == seen_moves_) return;
  for (std::size_t i = 0; i < variable_patch_.size(); ++i)
    if (variable_patch_[i] != 0) move_variable(i, variables[i]->data());
  seen_moves_ = moves;
}

TAGMA_DECL void bound_plan::move_variable(std::size_t slot, std::byte* data) {
  if (variable_patch_[slot] == 0 || *patches_[variable_patch_[slot]].where == data) return;
  for (std::int32_t p = variable_patch_[slot]; p != 0; p = patches_[p].index) *patches_[p].where = data;
  ++moved_;
}

TAGMA_DECL const session_device& bound_plan::device_of(std::size_t s) const {
  return device_at(plan_.nodes[plan_.steps[s].node].device);
}

TAGMA_DECL bool bound_plan::is_transfer(std::size_t s) const {
  return plan_.nodes[plan_.steps[s].node].op == &ir::info<plan::transfer>;
}

TAGMA_DECL const session_device& bound_plan::source_of(std::size_t s) const {
  return is_transfer(s) ? device_at(plan_.nodes[plan_.operands[plan_.steps[s].first_operand]].device) : device_of(s);
}

TAGMA_COLD TAGMA_DECL std::uint64_t bound_plan::lasting(const plan::plan_step& step) const {
  std::uint64_t found = 0;
  for (std::int32_t k = 0; k < step.operands; ++k) {
    const plan::plan_node& n = plan_.nodes[plan_.operands[step.first_operand + k]];
    // A run that pins variables may see another version than its count is of.
    const bool read_only = n.is_in(plan::storage_kind::variable) && !plan_.writes_variables && !access_;
    if (read_only || n.op->key == &ir::key<ir::keep>) found |= std::uint64_t{1} << k;
  }
  return found;
}

TAGMA_COLD TAGMA_DECL void bound_plan::prepare(std::size_t s, const kernel_entry& kernel, const run_context& context) {
  if (kernel.prepare == nullptr) return;
  keeps_ = keeps_ || kernel.keeps;
  calls_[s].lasting = lasting(plan_.steps[s]);
  try {
    states_[s] = kernel.prepare(calls_[s], context);
  } catch (const no_memory& e) {
    throw no_memory(e, step_text(s));
  }
  calls_[s].state = states_[s].get();
}

TAGMA_COLD TAGMA_DECL void bound_plan::add_to_trace(std::size_t s, trace_sink& trace, const device_spec& device,
                                                    std::uint64_t run, std::string_view queue, std::int64_t begin_ns,
                                                    std::int64_t end_ns) const {
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

TAGMA_COLD TAGMA_DECL std::string bound_plan::step_text(std::size_t s) const {
  const plan::plan_step& step = plan_.steps[s];
  const plan::plan_node& n = plan_.nodes[step.main_node()];
  std::string text = sentence({detail::describe(n), step.before == ir::no_node ? "" : " with the loop behind it",
                               " on ", short_name(device_at(n.device).name)});
  const char* before = " of ";
  for (const operand& o : calls_[s].in) {
    if (o.type == dtype::none) continue;  // a resource
    detail::append_spec(text, before, o.type, o.dims);
    before = " and ";
  }
  return text;
}

TAGMA_COLD TAGMA_DECL std::exception_ptr bound_plan::named(std::size_t s,
                                                           std::exception_ptr error_of_kernel) const noexcept {
  const caught seen(error_of_kernel);
  if (!seen.is_known) return error_of_kernel;
  try {
    fail(seen.code, {step_text(s), ": ", without_code(seen.what)});
  } catch (...) {
    return std::current_exception();
  }
}

TAGMA_DECL raw_view bound_plan::fetched(std::size_t f) const {
  if (late_) return late_->fetched(f);
  const ir::node_id id = plan_.fetches[f];
  return {fetch_address_[f], plan_.nodes[id].spec.type, dims_[id]};
}

TAGMA_DECL std::int64_t bound_plan::bytes_of(ir::node_id id) const {
  return tagma::bytes_of({plan_.nodes[id].spec.type, dims_[id]});
}

TAGMA_DECL std::int64_t bound_plan::block_bytes(const plan::plan_block& b) const {
  return plan::bytes_of_block(
      b, [this](ir::node_id id) { return dims_[id]; }, [this](ir::node_id id) { return bytes_of(id); });
}

TAGMA_COLD TAGMA_DECL std::string bound_plan::largest_tensors(std::int16_t d) const {
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

TAGMA_COLD TAGMA_DECL void bound_plan::add_to_trace(std::size_t s, const run_context& context,
                                                    std::int64_t begin) const {
  add_to_trace(s, *context.trace, device_of(s).name, context.step, {}, begin, now_ns());
}

TAGMA_COLD TAGMA_DECL void bound_plan::run_late_or_traced(std::size_t s, const run_context& context) {
  if (rows_ != nullptr && context.trace == nullptr && rows_->run(s, context)) return;
  begin_late(s, context);
  const std::int64_t begin = context.trace == nullptr ? 0 : now_ns();
  kernels_[s].run(calls_[s], on_device(s, context));
  if (finds_extents(s)) end_late(s);
  if (context.trace != nullptr) add_to_trace(s, context, begin);
}

TAGMA_COLD TAGMA_DECL bound_plan::bound_plan(const plan::plan_view& plan, const kernel_tables& kernels,
                                             const device_table& devices, accelerator* others)
    : plan_(plan),
      kernels_(kernels.cpu),
      device_kernels_(kernels.accelerator),
      devices_(devices),
      others_(others),
      waiting_(kernels.waiting),
      loops_of_(kernels.loops) {}

TAGMA_DECL array_view<const ir::node_id> bound_plan::inputs_of(const plan::plan_node& n) const {
  return plan_.inputs.subspan(n.first_input, n.inputs);
}

TAGMA_DECL ir::attribute_list bound_plan::attributes_of(const plan::plan_node& n) const {
  return plan_.attributes.subspan(n.first_attribute, n.attribute_count);
}

TAGMA_COLD TAGMA_DECL void bound_plan::look_at_steps(array_view<const counted<stored_variable>> variables) {
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

TAGMA_COLD TAGMA_DECL void bound_plan::infer_extents(array_view<const raw_view> feeds) {
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

TAGMA_COLD TAGMA_DECL bool bound_plan::has_dynamic_input(const plan::plan_node& n) const {
  if (n.op->is(ir::op_kind::control) || n.op->outputs > 0) return false;
  for (const auto i : inputs_of(plan::inferring(plan_.nodes, plan_.inputs, n)))
    if (!plan_.nodes[i].spec.dims.is_static()) return true;
  return !n.spec.dims.is_static();
}

TAGMA_COLD TAGMA_DECL heap_array<tensor_spec> bound_plan::input_specs(const plan::plan_node& n) const {
  const auto inputs = inputs_of(n);
  heap_array<tensor_spec> in(inputs.size());
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = {plan_.nodes[inputs[k]].spec.type, dims_[inputs[k]]};
  return in;
}

TAGMA_COLD TAGMA_DECL shape bound_plan::infer(const plan::plan_node& n) const {
  const plan::plan_node& of = plan::inferring(plan_.nodes, plan_.inputs, n);
  const heap_array<tensor_spec> in = input_specs(of);
  ir::infer_args args{in, attributes_of(of), {}, plan::inferred_output(plan_.attributes, n)};
  if (const char* problem = of.op->infer(args)) fail(status_code::invalid_argument, extents_text(of, problem));
  if (!args.out.dims.is_known() || !compatible(args.out.dims, n.spec.dims))
    fail(status_code::invalid_argument, extents_text(n, sentence({"the result does not fit ", to_string(n.spec)})));
  return args.out.dims;
}

TAGMA_COLD TAGMA_DECL void bound_plan::fail_size(const plan::plan_node& n, const shape& dims) const {
  const std::string size = sentence({size_text({n.spec.type, dims}), ", more than a process can address"});
  if (n.inputs == 0) fail_never_fits({"feed of ", detail::describe(n), " is ", size});
  fail_never_fits({extents_text(n, sentence({"a result of ", size}))});
}

TAGMA_COLD TAGMA_DECL void bound_plan::check_stretching(const plan::plan_node& n, const shape& out) {
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

TAGMA_COLD TAGMA_DECL std::string bound_plan::extents_text(const plan::plan_node& n, std::string_view problem) const {
  std::string text = sentence({detail::describe(n), ": ", problem, "; its inputs are"});
  const char* before = " ";
  for (const auto i : inputs_of(n)) {
    detail::append_spec(text, before, plan_.nodes[i].spec.type, dims_[i]);
    before = " and ";
  }
  return text;
}

TAGMA_DECL run_context bound_plan::on_device(std::size_t s, run_context context) const {
  context.threads = device_of(s).threads.get();
  return context;
}

TAGMA_COLD TAGMA_DECL double bound_plan::cost(const plan::plan_step& step) const {
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

TAGMA_COLD TAGMA_DECL void bound_plan::share_steps(const executor& e, int threads, bool apart) {
  const std::size_t n = plan_.steps.size();
  if (!asynchronous_ && (threads < 2 || n < 2 || n > most_shared_steps)) return;
  runner_.set_plan(plan_, loops_.get());
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

TAGMA_COLD TAGMA_DECL void bound_plan::place_memory() {
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

TAGMA_COLD TAGMA_DECL std::byte* bound_plan::allocate_arena(std::int16_t device, std::int64_t size) {
  aligned_bytes& arena = arenas_[device];
  arena = aligned_bytes(static_cast<std::size_t>(size), std::nothrow);
  if (arena.failed()) fail_arena(device, size);
  return arena.data();
}

TAGMA_COLD TAGMA_DECL void bound_plan::fail_arena(std::int16_t device, std::int64_t size) const {
  const std::string largest = largest_tensors(device);
  if (size != too_many) throw no_memory(size, sentence({"its arena", largest}));
  fail_never_fits({detail::describe(plan_), largest, " takes more than 2^56 bytes, which no process can address"});
}

TAGMA_COLD TAGMA_DECL void bound_plan::store_scalars(const carried& values) {
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

TAGMA_COLD TAGMA_DECL std::byte* bound_plan::address(const plan::plan_node& n, const session_state& state,
                                                     std::int16_t d) {
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

TAGMA_COLD TAGMA_DECL void bound_plan::make_calls(const session_state& state, const carried& values) {
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
    call.recipe = (device_at(n.device).number < 0 ? kernels_ : device_kernels_)[s].recipe;
    fill(call.out, step.node, n.device);
    call.in = array_view<operand>(operands_).subspan(first, count);
    if (step.outputs > 0) {
      call.outs = array_view<operand>(operands_).subspan(first + count, step.outputs);
      for (std::int32_t k = first + count; k < first + count + step.outputs; ++k)
        if (plan_.operands[k] != ir::no_node) fill(operands_[k], plan_.operands[k], n.device);
    }
    call.attributes = attributes_of(plan_.nodes[step.main_node()]);
    call.declared_out = n.spec.dims, call.source = plan_.numbers.empty() ? n.source : plan_.numbers[n.source];
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

}  // namespace tagma::runtime
