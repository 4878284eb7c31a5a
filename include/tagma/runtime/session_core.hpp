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

/// What random operations draw from, beside their place in the program: equal numbers give equal bytes in any process.
struct run_numbers {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;         ///< the number of the run
  rendezvous* meeting = nullptr;  ///< with the other parts of the run, if it has any
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
  session_core(array_view<const plan::plan_variable> variables, const wanted_devices& devices, const carried& values,
               const session_options& options, owned<accelerator> others = {}, resource_finder resources = nullptr,
               array_view<const plan::plan_resource> named = {});
  session_core(const session_core&) = delete;
  session_core& operator=(const session_core&) = delete;
  ~session_core();

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
    pass(session_core& session, bool exclusive, std::string_view purpose);
    ~pass();
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
  void find_variables(bool with_values, std::string_view prefix, bool adds);
  /// Idle plans of other sessions go where there is no room.
  counted<stored_variable> make_variable(const std::string& name, const tensor_spec& spec, int device);
  void check_variable(const stored_variable& v, const tensor_spec& spec, int device) const;

  /// Whom the fetched values go to.
  struct receiver {
    void* object;
    void (*take)(void* object, std::size_t fetch, const raw_view& value);
  };

  /// One run while it goes on.
  class current_run final : public run_steps {
   public:
    current_run(session_core& session, const plan::plan_view& plan, bound_plan& bound, run_control& control,
                const receiver& to, trace_sink* trace);
    ~current_run();
    current_run(const current_run&) = delete;
    current_run& operator=(const current_run&) = delete;

    /// What comes before the first step.
    /// @param in_order the calling thread does the steps, one after the other
    /// @param numbers of the run, or nullptr
    void begin(bool in_order, const run_numbers* numbers);
    TAGMA_DECL void enter() override;
    /// Gives the run its number, if it has none.
    void count();
    void pass_gate();
    TAGMA_DECL void leave() override;
    TAGMA_DECL void read_variables() override;
    TAGMA_DECL void begin_last() override;
    TAGMA_DECL void step(std::size_t s) override;
    TAGMA_DECL void start(std::size_t s, completion done) override;
    [[nodiscard]] TAGMA_DECL std::exception_ptr named(std::size_t s, std::exception_ptr e) noexcept override;
    [[nodiscard]] const run_context& context() const { return context_; }
    /// All steps have ended.
    void finish();

   private:
    /// Takes the fetched values that step `s` overwrites; the number of steps stands for the end.
    void take_before(std::size_t s) const;
    void take(std::size_t f) const;

    /// What goes wrong at the gate is not the step's error.
    void enter_at_step();

    // Where versions of variables are held.

    void begin_access();
    void end_access() noexcept;
    void take_pinned(std::size_t f) const;
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
    void step_by_itself(std::size_t s);
    void start_by_itself(std::size_t s, completion done);

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

  void run_at(const run_request& request, const receiver& to);

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
  [[noreturn]] void rethrow_at(const source_line& at) const;

  /// A bound plan for one run. The session does not end meanwhile.
  struct lease {
    lease(session_core& s, const run_request& request, const run_guard& guard);
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

  owned<bound_plan> bind(const plan::plan_view& plan, const kernel_tables& kernels, array_view<const raw_view> feeds,
                         const run_guard& guard);

  /// "; the session holds 24 bytes of 2 variables and 64 bytes of plans that no run uses", for the error where there is
  /// no memory.
  [[nodiscard]] std::string held_text() const;

  /// Every variable that a run reads has a value by then: from before, or from an update that overwrites it.
  void require_initialized(const plan::plan_view& plan) const;
  void mark_overwritten(const plan::plan_view& plan);

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

#ifndef TAGMA_COMPILED
#include "tagma/runtime/session_core.ipp"
#endif
