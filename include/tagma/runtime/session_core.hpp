// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The part of a session that does not depend on the type of its program: variables, bound plans, runs.

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/base/random.hpp"
#include "tagma/expr/name.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/runtime/placement_log.hpp"
#include "tagma/runtime/plan_store.hpp"
#include "tagma/runtime/session_pools.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma {

/// How a session is set up.
struct session_options {
  std::uint64_t seed = 0;    ///< of initial values and random operations; the same seed gives the same bytes
  int intra_op_threads = 0;  ///< threads that share one kernel; 0: all that the process may use, 1: the caller alone
  int inter_op_threads = 0;  ///< threads that share the steps of a run, where that pays; 0: as many as intra_op_threads
  bool initialize = true;    ///< false: every variable must be restored or assigned before it is read
  int cpu_devices = 1;       ///< CPU devices, each with its memory and the threads of its kernels
  bool allow_soft_placement = false;     /**< true: a device that is missing is replaced by the first of its type, or by
                                              /device:CPU:0 */
  placement_log log_device_placement{};  ///< true: standard error is told where each node runs and what is copied
  time_limit operation_timeout{};        ///< of every run that gives no `timeout` of its own; 0: none
  inter_op_pool_list inter_op_pools{};   ///< a run chooses one with `on_pool`; they do what `inter_op_threads` would
  gpu_options gpu{};                     ///< of a program that is compiled for GPUs, or devices of other kinds
  kind_options_list kinds{};             ///< instead of `gpu`, for the kinds that it names
  std::int64_t plan_cache_bytes = 0;     /**< that plans may take which wait for their next run, on all devices; the one
                                              used last is kept in any case. 0: a quarter of the memory that there is */
  container_option state{};              ///< whose variables it has; none: a container of its own
  std::string_view variable_prefix{};    /**< before the names of variables and other resources, with a slash: several
                                              copies of a model in one container, or in one file */
};

namespace runtime {

/// Finds the resources of a program in a container, or puts them there.
/// @param prefix of their names, or nothing
/// @param of where the program is data, its resources
using resource_finder = heap_array<counted<resource>> (*)(state_container& state, std::string_view prefix,
                                                          array_view<const plan::plan_resource> of);

/// A name of the program as the container knows it.
[[nodiscard]] TAGMA_COLD inline std::string name_in_container(std::string_view prefix, std::string_view name,
                                                              std::string_view suffix = {}) {
  return sentence({prefix, prefix.empty() ? "" : "/", name, suffix});
}

/// What random operations draw from, beside their place in the program: equal numbers give equal bytes in any process.
struct run_numbers {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;  ///< the number of the run
};

/// One run of a plan, as somebody asks for it.
struct run_request {
  const plan::plan_view& plan;
  const kernel_tables& kernels;
  array_view<const raw_view> feeds;
  given_limits limits;
  const source_line& at;
  const run_numbers* numbers = nullptr;  ///< nullptr: the seed of the session, and the number of its next run
};

class session_core {
 public:
  /// @param others the devices that are no CPUs, if the program knows of any
  /// @param resources finds those that the program names; nullptr: none
  /// @param named what it is given
  TAGMA_COLD session_core(array_view<const plan::plan_variable> variables, const wanted_devices& devices,
                          const carried& values, const session_options& options, owned<accelerator> others = {},
                          resource_finder resources = nullptr, array_view<const plan::plan_resource> named = {})
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
    if (const std::string_view prefix = options.variable_prefix;
        !prefix.empty() && (!is_name(prefix) || prefix.back() == '/'))
      fail(status_code::invalid_argument,
           {"variable_prefix \"", prefix, "\" is no name, such as \"replica_3\" or \"trial_1/left\""});
    find_variables(options.initialize, options.variable_prefix);
    if (resources != nullptr) resources_ = resources(*state_, options.variable_prefix, named);
  }
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;
  TAGMA_COLD ~session_core() { close(-1); }

  /// As `session::close`.
  /// @param patience_ns how long it waits for runs to end; below 0: as long as it takes
  bool close(std::int64_t patience_ns) noexcept { return plans_.close(patience_ns); }

  [[nodiscard]] array_view<const plan::plan_variable> variables() const { return variables_; }
  [[nodiscard]] stored_variable& variable(std::size_t i) const { return *stored_[i]; }
  /// Number `i` of the resources of the program.
  [[nodiscard]] resource& resource_at(int i) const { return *resources_[i]; }
  [[nodiscard]] const device_table& devices() const { return devices_; }
  [[nodiscard]] executor& threads() { return devices_.threads(); }
  /// Runs so far; random operations draw from the number of the run.
  [[nodiscard]] std::uint64_t step() const { return step_.load(memory_order::relaxed); }
  void set_step(std::uint64_t step) { step_.store(step, memory_order::relaxed); }

  /// Keeps runs that would meet it from the variables, where a container keeps runs apart: those that update them, and
  /// if it is exclusive, all. The session does not end meanwhile.
  struct pass {
    /// Throws Cancelled if the session was or is closed.
    /// @param purpose what that error begins with
    TAGMA_COLD pass(session_core& session, bool exclusive, std::string_view purpose) : pass(session, exclusive) {
      session.plans_.enter(purpose);
      inside = true;
      if (session.state_->access() != nullptr) return;
      session.state_->runs().enter(exclusive, run_guard(no_limits, 0, &session.plans_.end()));
      holds_gate = true;
    }
    TAGMA_COLD ~pass() {
      if (holds_gate) core.state_->runs().leave(exclusively);
      if (inside) core.plans_.leave(nullptr);
    }
    pass(const pass&) = delete;
    pass& operator=(const pass&) = delete;
    session_core& core;
    bool exclusively;
    bool inside = false;
    bool holds_gate = false;

   private:
    pass(session_core& session, bool exclusive) : core(session), exclusively(exclusive) {}
  };

  /// Runs the initializer of variable `i`. Keyed by seed and name, so that the value does not depend on the rest of the
  /// graph.
  void initialize(std::size_t i, stored_variable& v);

  /// Runs a plan and hands each fetched value to `take(position, value)`.
  template <class Take>
  void run(const run_request& request, Take take) {
    const receiver to{&take, [](void* t, std::size_t f, const raw_view& value) { (*static_cast<Take*>(t))(f, value); }};
    run_at(request, to);
  }

  /// Bytes of the arenas of the plans that wait for their next run.
  [[nodiscard]] std::size_t arena_bytes() { return plans_.idle_bytes(); }

 private:
  // What throws behind it is cleaned up by the destructor, not by code of its own for each member.
  session_core(array_view<const plan::plan_variable> variables, const carried& values, const session_options& options,
               owned<accelerator>& others)
      : others_(others.release()), variables_(variables), values_(values), log_(options.log_device_placement) {}

  /// Takes the variables of the program from the container, or puts them there.
  /// Throws InvalidArgument that names a variable which is another one there.
  TAGMA_COLD void find_variables(bool with_values, std::string_view prefix) {
    stored_.allocate(variables_.size());
    all_initialized_ = with_values;
    for (std::size_t i = 0; i < stored_.size(); ++i) {
      const plan::plan_variable& v = variables_[i];
      const bool begins = with_values && v.initializer != tagma::detail::preloaded_kind;
      all_initialized_ = all_initialized_ && begins;
      const int device = devices_[v.device].number;
      const std::string name = name_in_container(prefix, v.name, v.suffix);
      const counted<resource> found = state_->find_or_add("variable", name, [&] {
        const counted<stored_variable> made = make_variable(name, v.spec, device);
        if (begins) initialize(i, *made);
        return counted<resource>(made.get());
      });
      stored_[i] = counted<stored_variable>(static_cast<stored_variable*>(found.get()));
      check_variable(*stored_[i], v.spec, device);
      if (begins && !stored_[i]->initialized()) {
        const pass alone(*this, true, {});
        initialize(i, *stored_[i]);
      }
    }
  }
  /// Idle plans of other sessions go where there is no room.
  TAGMA_COLD counted<stored_variable> make_variable(const std::string& name, const tensor_spec& spec, int device) {
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
  TAGMA_COLD void check_variable(const stored_variable& v, const tensor_spec& spec, int device) const {
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

  /// Whom the fetched values go to.
  struct receiver {
    void* object;
    void (*take)(void* object, std::size_t fetch, const raw_view& value);
  };

  /// One run while it goes on.
  class current_run final : public run_steps {
   public:
    current_run(session_core& session, const plan::plan_view& plan, bound_plan& bound, run_control& control,
                const receiver& to, trace_sink* trace)
        : session_(session), plan_(plan), bound_(bound), control_(control), to_(to), context_(session.context_) {
      context_.trace = trace;
      context_.control = &control;
    }
    ~current_run() {
      if (access_ != nullptr) end_access();
      leave();
    }
    current_run(const current_run&) = delete;
    current_run& operator=(const current_run&) = delete;

    /// What comes before the first step.
    /// @param in_order the calling thread does the steps, one after the other
    /// @param numbers of the run, or nullptr
    void begin(bool in_order, const run_numbers* numbers) {
      context_.writes = stored_variable::writes();
      first_with_variable_ = in_order ? bound_.first_with_variable() : bound_.step_count();
      numbered_ = numbers != nullptr;
      if (numbered_) context_.step = numbers->step, context_.seed = numbers->seed;
      if (access_ != nullptr) begin_access();
      if (!in_order && !bound_.asynchronous() && bound_.waits_on_devices() == nullptr) enter();
      // The number of a run that updates is as old as its updates: a file has both or neither.
      if (!in_order || !plan_.writes_variables || access_ != nullptr) return count();
      if (!numbered_) context_.step = ~session_.step();  // until it is in; another one than that of the run before
      if (context_.trace != nullptr) enter();
    }
    void enter() override {
      if (inside_ || !bound_.uses_variables()) return;
      if (access_ == nullptr || session_.state_->access() == nullptr) pass_gate();
    }
    /// Gives the run its number, if it has none.
    void count() {
      if (!numbered_) context_.step = session_.step_.fetch_add(1, memory_order::relaxed);
      numbered_ = true;
    }
    [[gnu::noinline]] void pass_gate() {
      session_.gate_->enter(plan_.writes_variables, control_.guard());
      inside_ = true;
      count();
      if (access_ != nullptr) return;
      for (stored_variable* const v : bound_.written())
        if (v->is_read()) v->own_alone();
      bound_.follow(session_.stored_);
      if (!session_.all_initialized_) session_.require_initialized(plan_);
    }
    void leave() override {
      if (!inside_) return;
      if (plan_.writes_variables) stored_variable::note_write();
      session_.gate_->leave(plan_.writes_variables);
      inside_ = false;
    }
    TAGMA_COLD void read_variables() override {
      gate& runs = session_.state_->runs();
      runs.enter(false, control_.guard());
      try {
        access_->read_now();
      } catch (...) {
        runs.leave(false);
        throw;
      }
      runs.leave(false);
    }
    TAGMA_COLD void begin_last() override {
      enter();
      if (access_ == nullptr || all_begun_) return;
      access_->begin_all();
      all_begun_ = true;
    }
    void step(std::size_t s) override {
      if (s == first_with_variable_) enter_at_step();
      if (access_ != nullptr) return step_by_itself(s);
      if (plan_.writes_variables) take_before(s);
      bound_.run_step(s, context_);
    }
    void start(std::size_t s, completion done) override {
      if (plan_.writes_variables) take_now(s);
      if (bound_.step_access() != nullptr) return start_by_itself(s, done);
      bound_.start_step(s, context_, done);
    }
    [[nodiscard]] std::exception_ptr named(std::size_t s, std::exception_ptr e) noexcept override {
      return entering_ ? e : bound_.named(s, static_cast<std::exception_ptr&&>(e));
    }
    [[nodiscard]] const run_context& context() const { return context_; }
    /// All steps have ended.
    void finish() {
      control_.finish();
      if (bound_.waits_on_devices() != nullptr) begin_last();
      enter();
      take_before(bound_.step_count());
      if (!session_.all_initialized_ && plan_.writes_variables && access_ == nullptr) session_.mark_overwritten(plan_);
      ended_ = true;
    }

   private:
    /// Takes the fetched values that step `s` overwrites; the number of steps stands for the end.
    void take_before(std::size_t s) const {
      for (std::size_t f = 0; f < plan_.fetches.size(); ++f)
        if (static_cast<std::size_t>(plan_.fetch_steps[f]) == s) take(f);
    }
    void take(std::size_t f) const {
      try {
        if (access_ != nullptr) return take_pinned(f);
        to_.take(to_.object, f, bound_.fetched(f));
      } catch (const no_memory& e) {
        throw no_memory(e, sentence({"the fetch of ", detail::describe(plan_.nodes[plan_.fetches[f]])}));
      }
    }

    /// What goes wrong at the gate is not the step's error.
    void enter_at_step() {
      entering_ = true;
      enter();
      entering_ = false;
    }

    // Where versions of variables are held.

    TAGMA_COLD void begin_access() {
      access_->begin_run();
      if (bound_.step_access() == nullptr && bound_.waits_on_devices() == nullptr)
        access_->begin_all(), all_begun_ = true;
    }
    TAGMA_COLD void end_access() noexcept {
      if (all_begun_) access_->end_all(ended_);
      access_->end_run();
    }
    TAGMA_COLD void take_pinned(std::size_t f) const {
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
    /// Step `s` with the versions that it needs; `f` does it.
    template <class F>
    void with_versions(std::size_t s, const F& f) {
      access_->begin(s);
      try {
        f();
      } catch (...) {
        access_->end(s, false);
        throw;
      }
    }
    TAGMA_COLD void step_by_itself(std::size_t s) {
      if (plan_.writes_variables) take_before(s);
      if (bound_.step_access() == nullptr) return bound_.run_step(s, context_);
      with_versions(s, [&] { bound_.run_step(s, context_); });
      access_->end(s, true);
    }
    TAGMA_COLD void start_by_itself(std::size_t s, completion done) {
      with_versions(s, [&] { bound_.start_step(s, context_, done); });
    }

    /// The same where it is no matter how long a call takes.
    [[gnu::noinline]] void take_now(std::size_t s) const { take_before(s); }

    session_core& session_;
    const plan::plan_view& plan_;
    bound_plan& bound_;
    run_control& control_;
    const receiver& to_;
    run_context context_;
    variable_access* const access_ = bound_.access();
    std::size_t first_with_variable_ = 0;
    bool numbered_ = false;
    bool inside_ = false;
    bool entering_ = false;
    bool all_begun_ = false;
    bool ended_ = false;
  };

  [[gnu::noinline]] void run_at(const run_request& request, const receiver& to) {
    try {
      run_plan(request, to);
    } catch (...) {
      rethrow_at(request.at);
    }
  }

  TAGMA_INLINE void run_plan(const run_request& request, const receiver& to) {
    if (request.limits.join != nullptr) request.limits.join(request.limits.all);
    const run_limits& limits = request.limits.all.empty() ? no_limits : request.limits.all[0];
    step_pool* const threads = pools_.find(limits.pool == run_limits::any_pool ? 0 : limits.pool, devices_.threads());
    const bool takes_part = threads == nullptr || threads == &devices_.threads();
    run_control control(limits, timeout_ns_, &plans_.end());
    lease plan_lease(*this, request, control.guard());
    bound_plan& bound = *plan_lease.plan;
    bound.patch(request.feeds);
    current_run run(*this, request.plan, bound, control, to, limits.trace);
    step_runner* runner = bound.device_steps() == nullptr ? bound.shared_steps() : nullptr;
    if (runner != nullptr && threads == nullptr && !bound.asynchronous()) runner = nullptr;
    run.begin(takes_part && runner == nullptr && bound.device_steps() == nullptr, request.numbers);
    const kernel_scope scope(devices_.threads());
    if (accelerated_steps* const steps = bound.device_steps(); steps != nullptr)
      request.kernels.run_on_devices(*steps, control, run, run.context(), pools_, takes_part ? nullptr : threads);
    else if (loop_steps* const loops = bound.loops(); loops != nullptr)
      request.kernels.run_loops(*loops, control, run, pools_, takes_part ? nullptr : threads);
    else if (runner != nullptr)
      runner->run(control, threads, takes_part, run);
    else if (takes_part)
      run_in_order(control, run, bound.step_count());
    else
      pools_.run(*threads, control, run, bound.step_count());
    run.finish();
  }
  /// Throws the error that is handled, with the line of the program that asked for the run.
  [[noreturn]] TAGMA_COLD void rethrow_at(const source_line& at) const {
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

  /// A bound plan for one run. The session does not end meanwhile.
  struct lease {
    lease(session_core& s, const run_request& request, const run_guard& guard) : lease(s, request.plan, request.feeds) {
      if (plan == nullptr) plan = s.bind(request.plan, request.kernels, request.feeds, guard);
    }
    ~lease() { store.leave(std::move(plan)); }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;

    plan_store& store;
    owned<bound_plan> plan;

   private:
    // What throws behind it ends the visit by the destructor.
    lease(session_core& s, const plan::plan_view& p, array_view<const raw_view> feeds)
        : store(s.plans_), plan(store.enter(p, feeds)) {}
  };

  TAGMA_COLD owned<bound_plan> bind(const plan::plan_view& plan, const kernel_tables& kernels,
                                    array_view<const raw_view> feeds, const run_guard& guard) {
    try {
      owned<bound_plan> bound = plans_.bind(guard, [&] {
        return make_owned<bound_plan>(plan, kernels, feeds, session_state{stored_, resources_, state_->access()},
                                      values_, context_, devices_, others_.get());
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

  /// "; the session holds 24 bytes of 2 variables and 64 bytes of plans that no run uses", for the error where there is
  /// no memory.
  [[nodiscard]] TAGMA_COLD std::string held_text() const {
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

  /// The calling thread runs kernels while this lives.
  struct kernel_scope {
    explicit kernel_scope(executor& e) : threads(e), before(e.enter()) {}
    ~kernel_scope() { threads.leave(before); }
    kernel_scope(const kernel_scope&) = delete;
    kernel_scope& operator=(const kernel_scope&) = delete;
    executor& threads;
    unsigned before;
  };

  /// Every variable that a run reads has a value by then: from before, or from an update that overwrites it.
  TAGMA_COLD void require_initialized(const plan::plan_view& plan) const {
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
  TAGMA_COLD void mark_overwritten(const plan::plan_view& plan) {
    for (const plan::plan_step& step : plan.steps)
      if (const plan::plan_node& n = plan.nodes[step.node]; n.op->overwrites) stored_[n.slot]->set_initialized();
  }

  counted<accelerator> others_;  // first here: it outlives its memory
  array_view<const plan::plan_variable> variables_;
  carried values_;
  std::int64_t timeout_ns_ = 0;
  session_pools pools_;
  device_table devices_;
  placement_log log_;
  run_context context_;
  counted<state_container> state_;
  gate* gate_ = nullptr;  // of the container
  heap_array<counted<stored_variable>> stored_;
  heap_array<counted<resource>> resources_;
  bool all_initialized_ = false;
  atomic<std::uint64_t> step_{0};
  mutable plan_store plans_;
  container_user use_;
};

}  // namespace runtime
}  // namespace tagma
