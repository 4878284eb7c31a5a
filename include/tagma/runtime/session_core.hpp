// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The part of a session that does not depend on the type of its program: variables, bound plans, runs.

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/base/random.hpp"
#include "tagma/runtime/gate.hpp"
#include "tagma/runtime/placement_log.hpp"
#include "tagma/runtime/plan_store.hpp"
#include "tagma/runtime/session_pools.hpp"

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
  gpu_options gpu{};                     ///< of a program that is compiled for GPUs
  std::int64_t plan_cache_bytes = 0;     /**< that plans may take which wait for their next run, on all devices; the one
                                              used last is kept in any case. 0: a quarter of the machine's memory */
};

namespace runtime {

class session_core {
 public:
  /// @param others the devices that are no CPUs, if the program knows of any
  TAGMA_COLD session_core(array_view<const plan::plan_variable> variables, const wanted_devices& devices,
                          const carried& values, const session_options& options, owned<accelerator> others = {})
      : session_core(variables, values, options, others) {
    timeout_ns_ = checked_option("operation_timeout in ns", options.operation_timeout.ns(), "no limit");
    const std::int64_t cache = checked_option("plan_cache_bytes", options.plan_cache_bytes, "a quarter of the memory");
    plans_.set_budget(cache == 0 ? default_plan_cache_bytes() : cache);
    pools_ = session_pools(options.inter_op_pools);
    devices_ = device_table(devices, options.cpu_devices, options.intra_op_threads,
                            pools_.any() && options.inter_op_threads >= 0 ? 1 : options.inter_op_threads,
                            options.allow_soft_placement, others_.get());
    address_.allocate(variables.size());
    initialized_.allocate(variables.size());
    context_.threads = &devices_.threads();
    context_.seed = options.seed;
    context_.step_threads = pools_.any() ? pools_.most_threads() : devices_.threads().step_threads();
    allocate_variables();
    if (options.initialize)
      for (std::size_t i = 0; i < variables_.size(); ++i) initialize(i);
    all_initialized_ = options.initialize;
  }
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;
  TAGMA_COLD ~session_core() { close(-1); }

  /// As `session::close`.
  /// @param patience_ns how long it waits for runs to end; below 0: as long as it takes
  bool close(std::int64_t patience_ns) noexcept { return plans_.close(patience_ns); }

  [[nodiscard]] array_view<const plan::plan_variable> variables() const { return variables_; }
  /// Variable `i` where it is, which may be a device that the host does not read.
  [[nodiscard]] raw_view variable_value(std::size_t i) const {
    return {address_[i], variables_[i].spec.type, variables_[i].spec.dims};
  }
  /// The same where the host reads it; only under the gate.
  /// @param copy keeps the value of a variable that is elsewhere
  [[nodiscard]] TAGMA_COLD raw_view read_variable(std::size_t i, aligned_bytes& copy) const {
    raw_view value = variable_value(i);
    if (device_number(i) < 0) return value;
    copy = room_for(i, "a copy of ");
    others_->copy({copy.data(), on_host}, {address_[i], device_number(i)}, bytes_of(i));
    value.data = copy.data();
    return value;
  }
  /// Overwrites variable `i`, only under the gate, exclusively.
  /// @param from as many bytes as it has
  TAGMA_COLD void set_variable(std::size_t i, const void* from) {
    if (bytes_of(i) == 0) return;
    if (device_number(i) >= 0)
      others_->copy({address_[i], device_number(i)},
                    {const_cast<std::byte*>(static_cast<const std::byte*>(from)), on_host}, bytes_of(i));
    else
      std::memcpy(address_[i], from, bytes_of(i));
  }
  [[nodiscard]] TAGMA_COLD std::string variable_name(std::size_t i) const {
    return sentence({variables_[i].name, variables_[i].suffix});
  }
  [[nodiscard]] const device_table& devices() const { return devices_; }
  [[nodiscard]] executor& threads() { return devices_.threads(); }
  [[nodiscard]] bool is_initialized(std::size_t i) const { return initialized_[i]; }
  /// Only under the gate, exclusively.
  void mark_initialized(std::size_t i) { initialized_[i] = true; }

  /// Runs so far; random operations draw from the number of the run.
  [[nodiscard]] std::uint64_t step() const { return step_.load(memory_order::relaxed); }
  void set_step(std::uint64_t step) { step_.store(step, memory_order::relaxed); }

  /// Holds the gate of the variables: shared while they are only read, exclusive while they are written. The session
  /// does not end meanwhile.
  struct pass {
    /// Throws Cancelled if the session was or is closed.
    /// @param purpose what that error begins with
    TAGMA_COLD pass(session_core& session, bool exclusive, std::string_view purpose) : pass(session, exclusive) {
      session.plans_.enter(purpose);
      inside = true;
      session.gate_.enter(exclusive, run_guard(no_limits, 0, &session.plans_.end()));
      holds_gate = true;
    }
    TAGMA_COLD ~pass() {
      if (holds_gate) core.gate_.leave(exclusively);
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
  void initialize(std::size_t i);

  /// Runs a plan and hands each fetched value to `take(position, value)`.
  template <class Take>
  void run(const plan::plan_view& plan, const kernel_tables& kernels, array_view<const raw_view> feeds,
           const given_limits& limits, const source_line& at, Take take) {
    const receiver to{&take, [](void* t, std::size_t f, const raw_view& value) { (*static_cast<Take*>(t))(f, value); }};
    run_at(plan, kernels, feeds, limits, at, to);
  }

  /// Bytes of the arenas of the plans that wait for their next run.
  [[nodiscard]] std::size_t arena_bytes() { return plans_.idle_bytes(); }

 private:
  // What throws behind it is cleaned up by the destructor, not by code of its own for each member.
  session_core(array_view<const plan::plan_variable> variables, const carried& values, const session_options& options,
               owned<accelerator>& others)
      : others_(static_cast<owned<accelerator>&&>(others)),
        variables_(variables),
        values_(values),
        log_(options.log_device_placement) {}

  /// Idle plans of other sessions go where there is no room.
  TAGMA_COLD void allocate_variables() {
    storage_.allocate(others_ ? 0 : variables_.size());
    for (;;) {
      try {
        if (others_) return others_->allocate_variables(variables_, devices_, address_);
        for (std::size_t i = 0; i < storage_.size(); ++i) {
          storage_[i] = room_for(i, "");
          address_[i] = storage_[i].data();
        }
        return;
      } catch (...) {
        if (!is_lack_of_memory(std::current_exception()) || !plans_.let_one_go()) throw;
      }
    }
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
      if (inside_) session_.gate_.leave(plan_.writes_variables);
    }
    current_run(const current_run&) = delete;
    current_run& operator=(const current_run&) = delete;

    /// What comes before the first step.
    void begin() {
      if (!bound_.asynchronous()) enter();
      context_.step = session_.step_.fetch_add(1, memory_order::relaxed);
    }
    void enter() override {
      if (!inside_ && bound_.uses_variables()) pass_gate();
    }
    [[gnu::noinline]] void pass_gate() {
      session_.gate_.enter(plan_.writes_variables, control_.guard());
      inside_ = true;
      if (!session_.all_initialized_) session_.require_initialized(plan_);
    }
    void step(std::size_t s) override {
      if (plan_.writes_variables) take_before(s);
      bound_.run_step(s, context_);
    }
    void start(std::size_t s, completion done) override {
      if (plan_.writes_variables) take_now(s);
      bound_.start_step(s, context_, done);
    }
    [[nodiscard]] std::exception_ptr named(std::size_t s, std::exception_ptr e) noexcept override {
      return bound_.named(s, static_cast<std::exception_ptr&&>(e));
    }
    [[nodiscard]] const run_context& context() const { return context_; }
    /// All steps have ended.
    void finish() {
      control_.finish();
      enter();
      take_before(bound_.step_count());
      if (!session_.all_initialized_ && plan_.writes_variables) session_.mark_overwritten(plan_);
    }

   private:
    /// Takes the fetched values that step `s` overwrites; the number of steps stands for the end.
    void take_before(std::size_t s) const {
      for (std::size_t f = 0; f < plan_.fetches.size(); ++f)
        if (static_cast<std::size_t>(plan_.fetch_steps[f]) == s) take(f);
    }
    void take(std::size_t f) const {
      try {
        to_.take(to_.object, f, bound_.fetched(f));
      } catch (const no_memory& e) {
        throw no_memory(e, sentence({"the fetch of ", detail::describe(plan_.nodes[plan_.fetches[f]])}));
      }
    }

    /// The same where it is no matter how long a call takes.
    [[gnu::noinline]] void take_now(std::size_t s) const { take_before(s); }

    session_core& session_;
    const plan::plan_view& plan_;
    bound_plan& bound_;
    run_control& control_;
    const receiver& to_;
    run_context context_;
    bool inside_ = false;
  };

  [[gnu::noinline]] void run_at(const plan::plan_view& plan, const kernel_tables& kernels,
                                array_view<const raw_view> feeds, const given_limits& limits, const source_line& at,
                                const receiver& to) {
    try {
      run_plan(plan, kernels, feeds, limits, to);
    } catch (...) {
      rethrow_at(at);
    }
  }

  TAGMA_INLINE void run_plan(const plan::plan_view& plan, const kernel_tables& kernels,
                             array_view<const raw_view> feeds, const given_limits& given, const receiver& to) {
    if (given.join != nullptr) given.join(given.all);
    const run_limits& limits = given.all.empty() ? no_limits : given.all[0];
    step_pool* const threads = pools_.find(limits.pool == run_limits::any_pool ? 0 : limits.pool, devices_.threads());
    const bool takes_part = threads == nullptr || threads == &devices_.threads();
    run_control control(limits, timeout_ns_, &plans_.end());
    lease plan_lease(*this, plan, kernels, feeds, control.guard());
    bound_plan& bound = *plan_lease.plan;
    bound.patch(feeds);
    current_run run(*this, plan, bound, control, to, limits.trace);
    run.begin();
    const kernel_scope scope(devices_.threads());
    if (accelerated_steps* const steps = bound.device_steps(); steps != nullptr)
      kernels.run_on_devices(*steps, control, run, run.context(), pools_, takes_part ? nullptr : threads);
    else if (step_runner* const runner = bound.shared_steps();
             runner != nullptr && (threads != nullptr || bound.asynchronous()))
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
    lease(session_core& s, const plan::plan_view& p, const kernel_tables& kernels, array_view<const raw_view> feeds,
          const run_guard& guard)
        : lease(s, p, feeds) {
      if (plan == nullptr) plan = s.bind(p, kernels, feeds, guard);
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
        return make_owned<bound_plan>(plan, kernels, feeds, address_, values_, context_, devices_, others_.get());
      });
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
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (address_[i] == nullptr || device_number(i) >= 0) continue;
      bytes += tagma::bytes_of(variables_[i].spec);
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
    const heap_array<bool> ready(initialized_.size());
    for (std::size_t i = 0; i < ready.size(); ++i) ready[i] = initialized_[i];
    const auto read = [&](ir::node_id id) {
      const plan::plan_node& n = plan.nodes[id];
      if (n.is_in(plan::storage_kind::variable) && !ready[static_cast<std::size_t>(n.slot)])
        fail(status_code::failed_precondition,
             {"attempting to use uninitialized variable '", variable_name(static_cast<std::size_t>(n.slot)), "'"});
    };
    for (std::size_t s = 0; s <= plan.steps.size(); ++s) {
      for (std::size_t f = 0; f < plan.fetches.size(); ++f)
        if (static_cast<std::size_t>(plan.fetch_steps[f]) == s) read(plan.fetches[f]);
      if (s == plan.steps.size()) break;
      const plan::plan_step& step = plan.steps[s];
      const plan::plan_node& n = plan.nodes[step.node];
      for (int k = n.op->overwrites ? 1 : 0; k < step.operands; ++k) read(plan.operands[step.first_operand + k]);
      if (n.op->overwrites) ready[static_cast<std::size_t>(n.slot)] = true;
    }
  }
  TAGMA_COLD void mark_overwritten(const plan::plan_view& plan) {
    for (const plan::plan_step& step : plan.steps)
      if (plan.nodes[step.node].op->overwrites) mark_initialized(static_cast<std::size_t>(plan.nodes[step.node].slot));
  }

  /// Memory for as many bytes as variable `i` has. Throws `no_memory`.
  /// @param what it is, as errors tell it: the variable itself, or "a copy of " it
  [[nodiscard]] TAGMA_COLD aligned_bytes room_for(std::size_t i, std::string_view what) const {
    const plan::plan_variable& v = variables_[i];
    aligned_bytes room(bytes_of(i), std::nothrow);
    if (room.failed())
      throw no_memory(
          no_memory(tagma::bytes_of(v.spec), sentence({what, "variable '", v.name, v.suffix, "' ", to_string(v.spec)})),
          {}, held_text());
    return room;
  }

  [[nodiscard]] std::size_t bytes_of(std::size_t i) const {
    return static_cast<std::size_t>(tagma::bytes_of(variables_[i].spec));
  }
  /// Of the accelerator where variable `i` is, or `on_host`.
  [[nodiscard]] int device_number(std::size_t i) const {
    return devices_[static_cast<std::size_t>(variables_[i].device)].number;
  }

  owned<accelerator> others_;  // first here: it outlives its memory
  array_view<const plan::plan_variable> variables_;
  carried values_;
  std::int64_t timeout_ns_ = 0;
  session_pools pools_;
  device_table devices_;
  placement_log log_;
  run_context context_;
  heap_array<aligned_bytes> storage_;  // of variables, if `others_` has none
  heap_array<std::byte*> address_;
  heap_array<bool> initialized_;
  bool all_initialized_ = false;
  atomic<std::uint64_t> step_{0};
  gate gate_;
  mutable plan_store plans_;
};

}  // namespace runtime
}  // namespace tagma
