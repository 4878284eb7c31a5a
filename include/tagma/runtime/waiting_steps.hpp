// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps of a bound plan that may wait without a thread. Only programs with kernels that are begun and end later
/// compile what is here.

#include "tagma/base/config.hpp"
#include "tagma/runtime/pinned_variables.hpp"
#include "tagma/runtime/session_pools.hpp"

namespace tagma::runtime {

/// Begins the asynchronous steps of one bound plan. A template, so that a program without them does not compile it:
/// g++ compiles each class whose functions a virtual call may reach.
/// @tparam Bound bound_plan
template <class Bound>
class started_steps final : public waiting_steps {
 public:
  explicit started_steps(Bound& plan) : plan_(plan), waits_(plan.plan().steps.size()) {}

  /// For a plan whose steps are `runner`'s, or nullptr where others run them.
  [[nodiscard]] TAGMA_COLD static owned<waiting_steps> make(Bound& plan, step_runner* runner, bool apart) {
    owned<started_steps> made(new started_steps(plan));
    for (std::size_t s = 0; s < plan.plan().steps.size(); ++s)
      if (plan.is_asynchronous(s) && made->writes_variable(s))
        fail(status_code::internal, {"the kernel of ", detail::describe(plan.plan().nodes[plan.plan().steps[s].node]),
                                     " waits while it updates a variable: nothing that waits may hold one"});
    if (runner != nullptr) {
      for (std::size_t s = 0; s < plan.plan().steps.size(); ++s)
        if (plan.is_asynchronous(s)) runner->set_asynchronous(s);
      if (apart) made->hold_back(*runner);
    }
    return owned<waiting_steps>(static_cast<owned<started_steps>&&>(made));
  }

  [[nodiscard]] access_function access() const override {
    return uses_while_waiting_ ? &pinned_variables<Bound>::make : nullptr;
  }

  void start(std::size_t s, const run_context& context, completion done) override {
    if (context.trace != nullptr || plan_.step_access() != nullptr) {
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

  /// Steps that need a variable come last, so that no step waits while the run has it to itself. Those that somebody
  /// else may wait for cannot: what is before a step that waits, or that has an effect outside. They read versions that
  /// they hold, and write each by itself.
  TAGMA_COLD void hold_back(step_runner& runner) {
    using hold = step_runner::hold;
    const plan::step_graph& graph = runner.graph();
    const array_view<const plan::plan_step> steps = plan_.plan().steps;
    const heap_array<bool> waited_for(steps.size());  // by somebody else, or a step behind it is
    for (std::size_t s = steps.size(); s-- > 0;) {
      const ir::op_info& op = *plan_.plan().nodes[steps[s].main_node()].op;
      waited_for[s] = plan_.is_asynchronous(s) || (op.stateful && !op.is(ir::op_kind::update));
      for (std::int32_t e = graph.first_edge(s); e != 0; e = graph[e].next)
        waited_for[s] = waited_for[s] || waited_for[graph[e].after];
    }
    runner.hold_back([&](std::size_t s) {
      if (!needs_variable(plan_.plan(), steps[s])) return hold::none;
      if (!waited_for[s]) return hold::last;
      uses_while_waiting_ = true;
      return writes_variable(s) ? hold::writes : hold::reads;
    });
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
    void complete(std::int32_t, std::exception_ptr problem) noexcept override {
      if (variable_access* const access = plan_->step_access()) access->end(step_, problem == nullptr);
      if (problem != nullptr) return done_.fail(static_cast<std::exception_ptr&&>(problem));
      if (context_->trace != nullptr) plan_->add_to_trace(step_, *context_, begin_ns_);
      done_.succeed();
    }

   private:
    const Bound* plan_ = nullptr;
    std::size_t step_ = 0;
    const run_context* context_ = nullptr;
    completion done_;
    std::int64_t begin_ns_ = 0;
  };

  Bound& plan_;
  heap_array<watched_wait> waits_;  // one a step
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

/// The kernels of all devices that a program knows of.
template <class Plan>
[[nodiscard]] constexpr kernel_tables kernels_of() {
  using others = ir::accelerator_of<typename Plan::graph>;
  kernel_tables tables{kernel_table<Plan>::entries};
  if constexpr (others::exists) {
    tables.accelerator = others::template entries<Plan>();
    tables.run_on_devices = &run_on_devices<session_pools>;
  }
  if constexpr (starts_any(kernel_table<Plan>::entries)) tables.waiting = &started_steps<bound_plan>::make;
  return tables;
}

}  // namespace tagma::runtime
