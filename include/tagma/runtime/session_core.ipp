// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of session_core.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/initial_value.hpp"
#include "tagma/runtime/session_core.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL session_core::session_core(array_view<const plan::plan_variable> variables,
                                                 const wanted_devices& devices, const carried& values,
                                                 const session_options& options, owned<accelerator> others,
                                                 resource_finder resources, array_view<const plan::plan_resource> named)
    : session_core(variables, values, options, others) {
  timeout_ns_ = checked_option("operation_timeout in ns", options.operation_timeout.ns(), "no limit");
  const std::int64_t cache = checked_option("plan_cache_bytes", options.plan_cache_bytes, "a quarter of the memory");
  plans_.set_budget(cache == 0 ? default_plan_cache_bytes() : cache);
  pools_ = session_pools(options.inter_op_pools);
  devices_ = device_table(devices, options.cpu_devices, options.intra_op_threads,
                          pools_.any() && options.inter_op_threads >= 0 ? 1 : options.inter_op_threads,
                          options.allow_soft_placement, others_.get());
  context_.threads = &devices_.threads();
  context_.seed = options.seed;
  context_.step_threads = pools_.any() ? pools_.most_threads() : devices_.threads().step_threads();
  state_ = options.state.state() ? options.state.state() : counted<state_container>(new state_container);
  gate_ = &state_->runs();
  if (options.state.state()) use_.join(state_, plans_.end());
  check_variable_prefix(options.variable_prefix);
  // What is there is compared before anything is added: a session that is refused leaves nothing behind.
  stored_.allocate(variables_.size());
  find_variables(options.initialize, options.variable_prefix, false);
  if (resources != nullptr) resources_ = resources(*state_, options.variable_prefix, named);
  find_variables(options.initialize, options.variable_prefix, true);
}

TAGMA_COLD TAGMA_DECL session_core::~session_core() { close(-1); }

TAGMA_COLD TAGMA_DECL session_core::pass::pass(session_core& session, bool exclusive, std::string_view purpose)
    : pass(session, exclusive) {
  session.plans_.enter(purpose);
  inside = true;
  if (session.state_->access() != nullptr) return;
  session.state_->runs().enter(exclusive, run_guard(no_limits, 0, &session.plans_.end()));
  holds_gate = true;
}

TAGMA_COLD TAGMA_DECL session_core::pass::~pass() {
  if (holds_gate) core.state_->runs().leave(exclusively);
  if (inside) core.plans_.leave(nullptr);
}

TAGMA_COLD TAGMA_DECL void session_core::initialize(std::size_t i, stored_variable& to) {
  const plan::plan_variable& v = variables_[i];
  const bool here = to.device() < 0;
  const std::string_view name(to.name().data(), to.name().size() - v.suffix.size());
  aligned_bytes made;
  if (!here) made = to.host_room("a copy of ");
  to.overwrite([&](std::byte* where) {
    write_initial_value(here ? where : made.data(), v.spec, v.initializer, values_.find(v.value), v.number,
                        {context_.seed, tagma::detail::stream_of(name, v.suffix), 0}, context_.threads);
    if (!here) to.write(where, made.data());
  });
}

TAGMA_COLD TAGMA_DECL void session_core::find_variables(bool with_values, std::string_view prefix, bool adds) {
  all_initialized_ = with_values;
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    const plan::plan_variable& v = variables_[i];
    const bool begins = with_values && v.initializer != tagma::detail::preloaded_kind;
    all_initialized_ = all_initialized_ && begins;
    const int device = devices_[v.device].number;
    const std::string name = name_in_container(prefix, v.name, v.suffix);
    const counted<resource> found = state_->find_or_add("variable", name, [&] {
      if (!adds) return counted<resource>();
      const counted<stored_variable> made = make_variable(name, v.spec, device);
      if (begins) initialize(i, *made);
      return counted<resource>(made.get());
    });
    if (!found) continue;
    stored_[i] = counted<stored_variable>(static_cast<stored_variable*>(found.get()));
    check_variable(*stored_[i], v.spec, device);
    if (adds && begins && !stored_[i]->initialized()) {
      const pass alone(*this, true, {});
      initialize(i, *stored_[i]);
    }
  }
}

TAGMA_COLD TAGMA_DECL counted<stored_variable> session_core::make_variable(const std::string& name,
                                                                           const tensor_spec& spec, int device) {
  for (;;) {
    try {
      if (device < 0) return counted<stored_variable>(new stored_variable(name, spec, device, others_));
      int number = device;
      counted<accelerator> kind(&others_->kind_of(number));
      return counted<stored_variable>(new stored_variable(name, spec, number, std::move(kind)));
    } catch (const no_memory& e) {
      if (!plans_.let_one_go()) throw no_memory(e, {}, held_text());
    } catch (...) {
      if (!is_lack_of_memory(std::current_exception()) || !plans_.let_one_go()) throw;
    }
  }
}

TAGMA_COLD TAGMA_DECL void session_core::check_variable(const stored_variable& v, const tensor_spec& spec,
                                                        int device) const {
  if (!(v.spec() == spec))
    fail(status_code::invalid_argument,
         {"the container has ", v.text(), ", the program one that is ", to_string(spec)});
  int number = device;
  const accelerator* const kind = device < 0 ? nullptr : &others_->kind_of(number);
  if (kind == nullptr ? v.device() >= 0 : !v.is_on(kind->type(), number))
    fail(status_code::invalid_argument,
         {"the container has ", v.text(), v.device() < 0 ? " on the host" : " on another device", ", the program ",
          device < 0 ? "one on the host" : "one on its device"});
}

TAGMA_DECL session_core::current_run::current_run(session_core& session, const plan::plan_view& plan, bound_plan& bound,
                                                  run_control& control, const receiver& to, trace_sink* trace)
    : session_(session), plan_(plan), bound_(bound), control_(control), to_(to), context_(session.context_) {
  context_.trace = trace;
  context_.control = &control;
}

TAGMA_DECL session_core::current_run::~current_run() {
  if (access_ != nullptr) end_access();
  leave();
}

TAGMA_DECL void session_core::current_run::begin(bool in_order, const run_numbers* numbers) {
  context_.writes = stored_variable::writes();
  first_with_variable_ = in_order ? bound_.first_with_variable() : bound_.step_count();
  numbered_ = numbers != nullptr;
  if (numbered_) context_.step = numbers->step, context_.seed = numbers->seed, context_.meeting = numbers->meeting;
  if (access_ != nullptr) begin_access();
  if (!in_order && !bound_.asynchronous() && bound_.waits_on_devices() == nullptr) enter();
  // The number of a run that updates is as old as its updates: a file has both or neither.
  if (!in_order || !plan_.writes_variables || access_ != nullptr) return count();
  if (!numbered_) context_.step = ~session_.step();  // until it is in; another one than that of the run before
  if (context_.trace != nullptr) enter();
}

TAGMA_DECL void session_core::current_run::enter() {
  if (inside_ || !bound_.uses_variables()) return;
  if (access_ == nullptr || session_.state_->access() == nullptr) pass_gate();
}

TAGMA_DECL void session_core::current_run::count() {
  if (!numbered_) context_.step = session_.step_.fetch_add(1, memory_order::relaxed);
  numbered_ = true;
}

[[gnu::noinline]] TAGMA_DECL void session_core::current_run::pass_gate() {
  session_.gate_->enter(plan_.writes_variables, control_.guard());
  inside_ = true;
  context_.writes = stored_variable::writes();  // what was kept before a write is none of a run that sees it
  count();
  if (access_ != nullptr) return;
  for (stored_variable* const v : bound_.written())
    if (v->is_read()) v->own_alone();
  bound_.follow(session_.stored_);
  if (!session_.all_initialized_) session_.require_initialized(plan_);
}

TAGMA_DECL void session_core::current_run::leave() {
  if (!inside_) return;
  if (plan_.writes_variables) stored_variable::note_write();
  session_.gate_->leave(plan_.writes_variables);
  inside_ = false;
}

TAGMA_DECL void session_core::current_run::read_variables() {
  gate& runs = session_.state_->runs();
  runs.enter(false, control_.guard());
  try {
    access_->read_now();
    context_.writes = stored_variable::writes();
  } catch (...) {
    runs.leave(false);
    throw;
  }
  runs.leave(false);
}

TAGMA_DECL void session_core::current_run::begin_last() {
  enter();
  if (access_ == nullptr || all_begun_) return;
  access_->begin_all();
  all_begun_ = true;
}

TAGMA_DECL void session_core::current_run::step(std::size_t s) {
  if (s == first_with_variable_) enter_at_step();
  if (access_ != nullptr) return step_by_itself(s);
  if (plan_.writes_variables) take_before(s);
  bound_.run_step(s, context_);
}

TAGMA_DECL void session_core::current_run::start(std::size_t s, completion done) {
  if (plan_.writes_variables) take_now(s);
  if (bound_.step_access() != nullptr) return start_by_itself(s, done);
  bound_.start_step(s, context_, done);
}

TAGMA_DECL std::exception_ptr session_core::current_run::named(std::size_t s, std::exception_ptr e) noexcept {
  return entering_ ? e : bound_.named(s, static_cast<std::exception_ptr&&>(e));
}

TAGMA_DECL void session_core::current_run::finish() {
  control_.finish();
  if (bound_.waits_on_devices() != nullptr) begin_last();
  enter();
  take_before(bound_.step_count());
  if (!session_.all_initialized_ && plan_.writes_variables && access_ == nullptr) session_.mark_overwritten(plan_);
  ended_ = true;
}

TAGMA_DECL void session_core::current_run::take_before(std::size_t s) const {
  for (std::size_t f = 0; f < plan_.fetches.size(); ++f)
    if (static_cast<std::size_t>(plan_.fetch_steps[f]) == s) take(f);
}

TAGMA_DECL void session_core::current_run::take(std::size_t f) const {
  try {
    if (access_ != nullptr) return take_pinned(f);
    to_.take(to_.object, f, bound_.fetched(f));
  } catch (const no_memory& e) {
    throw no_memory(e, sentence({"the fetch of ", detail::describe(plan_.nodes[plan_.fetches[f]])}));
  }
}

TAGMA_COLD TAGMA_DECL void session_core::current_run::enter_at_step() {
  entering_ = true;
  enter();
  entering_ = false;
}

TAGMA_COLD TAGMA_DECL void session_core::current_run::begin_access() {
  access_->begin_run();
  if (bound_.step_access() == nullptr && bound_.waits_on_devices() == nullptr)
    access_->begin_all(), all_begun_ = true;
  else if (bound_.keeps() && session_.state_->access() != nullptr)
    access_->read_now();
  // Written while versions were chosen: which of both counts is theirs nobody knows, so what is kept is made for this
  // run, and for no other.
  if (const std::uint64_t now = stored_variable::writes(); now != context_.writes) context_.writes = ~now;
}

TAGMA_COLD TAGMA_DECL void session_core::current_run::end_access() noexcept {
  if (all_begun_) access_->end_all(ended_);
  access_->end_run();
}

TAGMA_COLD TAGMA_DECL void session_core::current_run::take_pinned(std::size_t f) const {
  if (bound_.step_access() == nullptr) return to_.take(to_.object, f, bound_.fetched(f));
  access_->begin_fetch(f);
  try {
    to_.take(to_.object, f, bound_.fetched(f));
  } catch (...) {
    access_->end_fetch(f);
    throw;
  }
  access_->end_fetch(f);
}

TAGMA_COLD TAGMA_DECL void session_core::current_run::step_by_itself(std::size_t s) {
  if (plan_.writes_variables) take_before(s);
  if (bound_.step_access() == nullptr) return bound_.run_step(s, context_);
  with_versions(s, [&] { bound_.run_step(s, context_); });
  access_->end(s, true);
}

TAGMA_COLD TAGMA_DECL void session_core::current_run::start_by_itself(std::size_t s, completion done) {
  with_versions(s, [&] { bound_.start_step(s, context_, done); });
}

[[gnu::noinline]] TAGMA_DECL void session_core::run_at(const run_request& request, const receiver& to) {
  try {
    run_plan(request, to);
  } catch (...) {
    rethrow_at(request.at);
  }
}

TAGMA_COLD TAGMA_DECL void session_core::rethrow_at(const source_line& at) const {
  std::string held;
  const caught seen(std::current_exception());
  try {
    throw;
  } catch (const no_memory&) {
    held = held_text();
  } catch (const error&) {
  } catch (const std::bad_alloc&) {
    fail(status_code::resource_exhausted,
         {"the host has no room for what a run needs (run at ", at.file, ":", at.line, ")"});
  }
  fail(seen.code, {without_code(seen.what), held, " (run at ", at.file, ":", at.line, ")"});
}

TAGMA_DECL session_core::lease::lease(session_core& s, const run_request& request, const run_guard& guard)
    : lease(s, request.plan, request.feeds) {
  if (plan == nullptr) plan = s.bind(request.plan, request.kernels, request.feeds, guard);
}

TAGMA_COLD TAGMA_DECL owned<bound_plan> session_core::bind(const plan::plan_view& plan, const kernel_tables& kernels,
                                                           array_view<const raw_view> feeds, const run_guard& guard) {
  try {
    owned<bound_plan> bound = plans_.bind(guard, [&] {
      return make_owned<bound_plan>(plan, kernels, feeds, session_state{stored_, resources_, state_->access()}, values_,
                                    context_, devices_, others_.get());
    });
    if (late_extents* const late = bound->late(); late != nullptr) {
      late->let_one_go = [](void* from) { return static_cast<plan_store*>(from)->let_one_go(); };
      late->from = &plans_;
    }
    log_(*bound);
    return bound;
  } catch (const no_memory& e) {
    throw no_memory(e, detail::describe(plan));
  }
}

TAGMA_COLD TAGMA_DECL std::string session_core::held_text() const {
  std::int64_t bytes = 0;
  std::size_t variables = 0;
  for (const counted<stored_variable>& v : stored_) {
    if (!v || v->device() >= 0) continue;
    bytes += static_cast<std::int64_t>(v->held_bytes());
    ++variables;
  }
  return sentence({"; the session holds ", bytes_text(bytes), " of ", variables,
                   variables == 1 ? " variable and " : " variables and ",
                   bytes_text(static_cast<std::int64_t>(plans_.idle_bytes())), " of plans that no run uses"});
}

TAGMA_COLD TAGMA_DECL void session_core::require_initialized(const plan::plan_view& plan) const {
  const heap_array<bool> ready(stored_.size());
  for (std::size_t i = 0; i < ready.size(); ++i) ready[i] = stored_[i]->initialized();
  const auto read = [&](ir::node_id id) {
    const plan::plan_node& n = plan.nodes[id];
    if (n.is_in(plan::storage_kind::variable) && !ready[n.slot]) stored_[n.slot]->refuse_to_read();
  };
  const auto steps = static_cast<std::int32_t>(plan.steps.size());
  for (std::int32_t s = 0; s <= steps; ++s) {
    for (std::size_t f = 0; f < plan.fetches.size(); ++f)
      if (plan.fetch_steps[f] == s) read(plan.fetches[f]);
    if (s == steps) break;
    const plan::plan_step& step = plan.steps[s];
    const plan::plan_node& n = plan.nodes[step.node];
    for (int k = n.op->overwrites ? 1 : 0; k < step.operands; ++k) read(plan.operands[step.first_operand + k]);
    if (n.op->overwrites) ready[n.slot] = true;
  }
}

TAGMA_COLD TAGMA_DECL void session_core::mark_overwritten(const plan::plan_view& plan) {
  for (const plan::plan_step& step : plan.steps)
    if (const plan::plan_node& n = plan.nodes[step.node]; n.op->overwrites) stored_[n.slot]->set_initialized();
}

}  // namespace tagma::runtime
