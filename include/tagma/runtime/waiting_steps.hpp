// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps of a bound plan that may wait without a thread. Only programs with kernels that are begun and end later
/// compile what is here.

#include "tagma/base/config.hpp"
#include "tagma/graph/pass/late.hpp"
#include "tagma/plan/late.hpp"
#include "tagma/runtime/loop_runner.hpp"
#include "tagma/runtime/pinned_variables.hpp"
#include "tagma/runtime/row_blocks.hpp"
#include "tagma/runtime/session_pools.hpp"

namespace tagma::runtime {

/// What a program may do that has steps which wait; what it does not is not compiled.
struct waits_of_program {
  bool hold = true;        ///< a step that somebody waits for may need a variable
  bool on_devices = true;  ///< others than a runner may do the steps
  bool loops = true;
  bool late = true;  ///< kernels find extents
};

/// Begins the asynchronous steps of one bound plan. A template, so that a program without them does not compile it:
/// g++ compiles each class whose functions a virtual call may reach.
/// @tparam Bound bound_plan
template <class Bound, waits_of_program May = waits_of_program{}>
class started_steps final : public waiting_steps {
 public:
  explicit started_steps(Bound& plan) : plan_(plan), waits_(plan.plan().steps.size()) {}

  /// For a plan whose steps are `runner`'s, or nullptr where others run them.
  [[nodiscard]] TAGMA_COLD static owned<waiting_steps> make(Bound& plan, step_runner* runner, bool apart) {
    owned<started_steps> made(new started_steps(plan));
    if constexpr (May.hold) made->pin_ = &pinned_variables<Bound>::make;
    for (std::size_t s = 0; s < plan.plan().steps.size(); ++s)
      if (plan.is_asynchronous(s) && made->writes_variable(s))
        fail(status_code::internal, {"the kernel of ", detail::describe(plan.plan().nodes[plan.plan().steps[s].node]),
                                     " waits while it updates a variable: nothing that waits may hold one"});
    for (std::size_t i = 0; May.loops && i < plan.plan().loops.size(); ++i) {
      const plan::plan_loop& l = plan.plan().loops[i];
      for (std::int32_t s = l.first; s < l.end; ++s)
        if (plan.is_asynchronous(static_cast<std::size_t>(s)))
          fail(status_code::unimplemented, {detail::describe(plan.plan().nodes[plan.plan().steps[s].node]),
                                            " waits, which nothing in the body of a loop or a branch can"});
    }
    if (runner != nullptr) {
      for (std::size_t s = 0; s < plan.plan().steps.size(); ++s)
        if (plan.is_asynchronous(s)) runner->set_asynchronous(s);
      if (apart) made->hold_back(*runner);
    } else if constexpr (May.on_devices) {
      made->hold_on_devices();
    }
    return owned<waiting_steps>(static_cast<owned<started_steps>&&>(made));
  }

  [[nodiscard]] access_function access() const override { return uses_while_waiting_ ? pin_ : nullptr; }

  [[nodiscard]] array_view<const step_hold> holds() const override { return {holds_.data(), holds_.size()}; }

  void start(std::size_t s, const run_context& context, completion done) override {
    if constexpr (May.late) plan_.begin_late(s, context);
    if (context.trace != nullptr || plan_.step_access() != nullptr || (May.late && plan_.finds_extents(s))) {
      waits_[s].begin(plan_, s, context, done);
      done = completion(waits_[s], static_cast<std::int32_t>(s));
    }
    plan_.kernel(s).start(plan_.call(s), context, done);
  }

 private:
  [[nodiscard]] bool writes_variable(std::size_t s) const {
    bool writes = false;
    each_written(plan_.plan(), plan_.plan().steps[s], [&](std::int32_t, int) { writes = true; });
    return writes;
  }

  /// The end of what is done with step `s`: the steps of a loop are one, its first.
  [[nodiscard]] std::size_t end_of(std::size_t s) const {
    if constexpr (May.loops) return end_of_loop(s);
    return s + 1;
  }
  [[nodiscard]] TAGMA_COLD std::size_t end_of_loop(std::size_t s) const {
    const std::int32_t loop = plan_.plan().outermost_loop(s);
    if (loop < 0) return s + 1;
    const plan::plan_loop& l = plan_.plan().loops[loop];
    return static_cast<std::size_t>(static_cast<std::size_t>(l.first) == s ? l.end : l.first);
  }

  /// Which steps somebody else may wait for: those that wait or have an effect outside, and those before them.
  [[nodiscard]] TAGMA_COLD heap_array<bool> find_waited_for() const {
    const plan::step_graph& graph = plan_.graph();
    const array_view<const plan::plan_step> steps = plan_.plan().steps;
    heap_array<bool> waited_for(steps.size());
    for (std::size_t s = steps.size(); s-- > 0;) {
      for (std::size_t k = s; k < end_of(s); ++k) {
        const ir::op_info& op = *plan_.plan().nodes[steps[k].main_node()].op;
        waited_for[s] = waited_for[s] || plan_.is_asynchronous(k) || (op.stateful && !op.is(ir::op_kind::update));
      }
      for (std::int32_t e = graph.first_edge(s); e != 0; e = graph[e].next)
        waited_for[s] = waited_for[s] || waited_for[graph[e].after];
    }
    return waited_for;
  }
  [[nodiscard]] TAGMA_COLD step_hold hold_of(std::size_t s, const heap_array<bool>& waited_for) {
    bool needs = false;
    for (std::size_t k = s; k < end_of(s); ++k) needs = needs || needs_variable(plan_.plan(), plan_.plan().steps[k]);
    if (!needs) return step_hold::none;
    if (!waited_for[s]) return step_hold::last;
    uses_while_waiting_ = true;
    return writes_variable(s) ? step_hold::writes : step_hold::reads;
  }

  /// Steps that need a variable come last, so that no step waits while the run has it to itself. Those that somebody
  /// else may wait for cannot. They read versions that they hold, and write each by itself.
  TAGMA_COLD void hold_back(step_runner& runner) {
    const heap_array<bool> waited_for = find_waited_for();
    runner.hold_back([&](std::size_t s) { return hold_of(s, waited_for); });
  }
  /// The same where no runner does the steps.
  TAGMA_COLD void hold_on_devices() {
    const plan::step_graph& graph = plan_.graph();
    const heap_array<bool> waited_for = find_waited_for();
    heap_array<bool> last(waited_for.size());
    holds_ = heap_array<step_hold>(waited_for.size());
    for (std::size_t s = 0; s < holds_.size(); ++s) {
      const step_hold own = last[s] ? step_hold::last : hold_of(s, waited_for);
      holds_[s] = own;
      if (static_cast<int>(own) != static_cast<int>(step_hold::last)) continue;
      for (std::int32_t e = graph.first_edge(s); e != 0; e = graph[e].next) last[graph[e].after] = true;
    }
  }

  /// A step whose run is recorded, or that holds versions of variables: stands between the kernel and who waits for it.
  class watched_wait final : public completion_target {
   public:
    void begin(const Bound& plan, std::size_t s, const run_context& context, completion done) {
      plan_ = &plan;
      step_ = s;
      context_ = &context;
      done_ = done;
      begin_ns_ = now_ns();
    }
    TAGMA_COLD void complete(std::int32_t, std::exception_ptr problem) noexcept override {
      if constexpr (May.late)
        if (problem == nullptr && plan_->finds_extents(step_)) problem = end_late();
      if (variable_access* const access = plan_->step_access()) access->end(step_, problem == nullptr);
      if (problem != nullptr) return done_.fail(static_cast<std::exception_ptr&&>(problem));
      if (context_->trace != nullptr) plan_->add_to_trace(step_, *context_, begin_ns_);
      done_.succeed();
    }

   private:
    [[nodiscard]] TAGMA_COLD std::exception_ptr end_late() const noexcept {
      try {
        plan_->end_late(step_);
        return nullptr;
      } catch (...) {
        return std::current_exception();
      }
    }

    const Bound* plan_ = nullptr;
    std::size_t step_ = 0;
    const run_context* context_ = nullptr;
    completion done_;
    std::int64_t begin_ns_ = 0;
  };

  Bound& plan_;
  heap_array<watched_wait> waits_;  // one a step
  heap_array<step_hold> holds_;
  access_function pin_ = nullptr;
  bool uses_while_waiting_ = false;
};

/// A run with steps on devices that are no CPUs, as one step: whoever does it names its errors. A template as above.
/// @tparam Steps accelerated_steps
template <class Steps>
class in_one_step final : public run_steps {
 public:
  in_one_step(Steps& all, run_steps& host, const run_context& context) : all_(all), host_(host), context_(context) {}
  void step(std::size_t) override { all_.run(host_, context_); }
  void start(std::size_t, completion) override {}
  [[nodiscard]] std::exception_ptr named(std::size_t, std::exception_ptr e) noexcept override { return e; }

 private:
  Steps& all_;
  run_steps& host_;
  const run_context& context_;
};

/// Does all steps of a run on the thread that calls, or on one of a pool.
/// @param host the steps of the host
template <class Pools>
void run_on_devices(accelerated_steps& steps, run_control& control, run_steps& host, const run_context& context,
                    const Pools& pools, step_pool* pool) {
  in_one_step<accelerated_steps> all(steps, host, context);
  if (pool == nullptr)
    run_in_order(control, all, 1);
  else
    pools.run(*pool, control, all, 1);
}

/// A run with steps on devices and with steps that wait: a thread does what can be done, and leaves it while nothing
/// can. A template as above.
/// @tparam Steps accelerated_steps
template <class Steps>
class parked_run final : public shared_work, public wake_target {
 public:
  parked_run(Steps& steps, run_control& control) : shared_work(1), steps_(steps), control_(control) {}

  /// Returns when all steps have ended; sleeps meanwhile.
  /// @param threads who does the steps; nullptr: the thread that calls
  void run(run_steps& host, const run_context& context, step_pool* threads) {
    steps_.begin(host, context, *this);
    threads_ = threads;  // before it is offered: helpers look
    if (threads_ != nullptr && !threads_->offer(*this)) threads_ = nullptr;
    wake();
    for (;;) {
      const std::uint32_t seen = events_.load(memory_order::acquire);
      const bool ends = control_.ending();
      if (ends) control_.tell();
      if (threads_ == nullptr || ends) help();
      if (asked_.load() && !taken_.exchange(true)) {
        asked_.store(false);
        go_on(true);
        taken_.store(false);
        wake();  // whoever was called meanwhile saw that it was taken
        continue;
      }
      if (ended_.load()) break;
      control_.wait(events_, seen);
    }
    if (threads_ != nullptr) threads_->withdraw(*this);
    steps_.end();
  }

  [[nodiscard]] bool open() const noexcept override { return ready_.load() && !taken_.load() && !ended_.load(); }
  void help() noexcept override {
    while (ready_.load() && !taken_.exchange(true)) {
      ready_.store(false);
      if (!ended_.load()) go_on(false);
      taken_.store(false);  // who made it ready meanwhile saw that it was taken: so it is looked at again
    }
    if (asked_.load()) events_.change(true);
  }
  /// There is something to do: a step that waited has ended. Called by any thread, with locks held.
  void wake() noexcept override {
    ready_.store(true);
    events_.change(true);
    if (threads_ != nullptr) threads_->call_helpers(1);
  }

 private:
  /// @param asked the thread that asked for the run does what only that does
  void go_on(bool asked) noexcept {
    bool done = false;
    try {
      if (!failed_ && asked) {
        steps_.serve();
        return;
      }
      if (!failed_) {
        const auto next = steps_.advance();
        done = next == Steps::next::nothing;
        if (next == Steps::next::serve) asked_.store(true), events_.change(true);
      }
    } catch (...) {
      failed_ = true;
      control_.failed(std::current_exception());
      control_.tell();
    }
    if (!done && (!failed_ || steps_.waits())) return;
    ended_.store(true);
    events_.change(true);
  }

  Steps& steps_;
  run_control& control_;
  step_pool* threads_ = nullptr;
  atomic<bool> ready_{false};
  atomic<bool> taken_{false};  // by the thread that does the steps now
  atomic<bool> asked_{false};  // for the thread that asked for the run
  atomic<bool> ended_{false};
  bool failed_ = false;
  wait_word events_;
};

/// The same as `run_on_devices` for plans with steps that wait.
template <class Steps>
void run_parked(Steps& steps, run_control& control, run_steps& host, const run_context& context, const session_pools&,
                step_pool* pool) {
  parked_run<Steps>(steps, control).run(host, context, pool);
}

/// The kernels of the devices besides CPUs for the steps of a plan, each step's those of its device.
template <class Plan>
struct accelerator_kernels {
  using graph = typename Plan::graph;

  template <int... Kind>
  static constexpr auto gather(std::integer_sequence<int, Kind...>) {
    fixed_array<kernel_entry, Plan::steps.size()> list{};
    const auto take = [&]<int K>(std::integral_constant<int, K>) {
      if constexpr (ir::accelerator_of<graph, K>::exists) {
        const array_view<const kernel_entry> of_kind = ir::accelerator_of<graph, K>::template entries<Plan>();
        for (std::size_t s = 0; s < list.size(); ++s)
          if (Plan::where::kinds[Plan::nodes[Plan::steps[s].node].device] == K) list[s] = of_kind[s];
      }
    };
    (take(std::integral_constant<int, Kind>{}), ...);
    return list;
  }
  static constexpr auto entries = gather(std::make_integer_sequence<int, ir::most_kinds>{});
};

/// False if it is certain before a program runs that no step needs a variable while somebody may wait for it: then none
/// stands before one that waits, or has an effect outside.
template <class Plan>
[[nodiscard]] constexpr bool may_hold_variables() {
  if constexpr (Plan::where::is_accelerated || Plan::loops.size() > 0) return true;
  const plan::plan_view& plan = Plan::view;
  bool needs = false;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const ir::op_info& op = *plan.nodes[plan.steps[s].main_node()].op;
    needs = needs || needs_variable(plan, plan.steps[s]);
    if (needs && (kernel_table<Plan>::entries[s].start != nullptr || (op.stateful && !op.is(ir::op_kind::update))))
      return true;
  }
  return false;
}

template <class Plan>
[[nodiscard]] constexpr waits_of_program waits_of() {
  return {may_hold_variables<Plan>(), Plan::where::is_accelerated, Plan::loops.size() > 0,
          plan::finds_extents(Plan::nodes)};
}

/// bound_plan, for `late_steps`, which only programs with late operations define (runtime/late_steps.hpp).
template <class Plan>
struct choose_bound_plan {
  using type = bound_plan;
};
template <class Plan>
using bound_plan_of = typename choose_bound_plan<Plan>::type;

/// The kernels of all devices that a program has nodes on.
template <class Plan>
[[nodiscard]] constexpr kernel_tables kernels_of() {
  kernel_tables tables{kernel_table<Plan>::entries};
  if constexpr (Plan::where::is_accelerated) {
    if constexpr (Plan::where::kind >= 0)
      tables.accelerator = ir::accelerator_of<typename Plan::graph, Plan::where::kind>::template entries<Plan>();
    else
      tables.accelerator = accelerator_kernels<Plan>::entries;
    if constexpr (starts_any(kernel_table<Plan>::entries))
      tables.run_on_devices = &run_parked<accelerated_steps>;
    else
      tables.run_on_devices = &run_on_devices<session_pools>;
  }
  if constexpr (Plan::loops.size() > 0) {
    tables.loops = &started_loops<bound_plan>::make;
    tables.run_loops = &run_loops<session_pools>;
    if constexpr (starts_any(kernel_table<Plan>::entries))
      tables.run_loops = &run_around_loops<bound_plan, session_pools>;
    if constexpr (Plan::where::is_accelerated &&
                  (starts_any(kernel_table<Plan>::entries) || ir::has_late(Plan::graph::view))) {
      tables.loops = &started_loops<bound_plan>::make_joined;
      tables.run_on_devices = &run_loops_on_devices<accelerated_steps, session_pools>;
    }
  }
  if constexpr (starts_any(kernel_table<Plan>::entries))
    tables.waiting = &started_steps<bound_plan, waits_of<Plan>()>::make;
  if constexpr (plan::finds_extents(Plan::nodes)) tables.late = &late_steps<bound_plan_of<Plan>>::make;
  if constexpr (!Plan::where::is_accelerated && Plan::loops.size() == 0 &&
                has_rows(Plan::nodes, Plan::steps, Plan::attributes))
    tables.rows = &row_blocks<bound_plan>::make;
  return tables;
}

}  // namespace tagma::runtime
