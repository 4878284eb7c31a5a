// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps of a bound plan that may wait without a thread. Only programs with kernels that are begun and end later
/// compile what is here.

#include "tagma/base/config.hpp"
#include "tagma/runtime/bound_plan.hpp"
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
  [[nodiscard]] TAGMA_COLD static owned<waiting_steps> make(Bound& plan, step_runner* runner) {
    const array_view<const plan::plan_step> steps = plan.plan().steps;
    if (runner != nullptr) {
      for (std::size_t s = 0; s < steps.size(); ++s)
        if (plan.is_asynchronous(s)) runner->set_asynchronous(s);
      runner->keep_back([&](std::size_t s) { return needs_variable(plan.plan(), steps[s]); });
    }
    return owned<waiting_steps>(new started_steps(plan));
  }

  void start(std::size_t s, const run_context& context, completion done) override {
    if (context.trace != nullptr) {
      waits_[s].begin(plan_, s, context, done);
      done = completion(waits_[s], static_cast<std::int32_t>(s));
    }
    plan_.kernel(s).start(plan_.call(s), context, done);
  }

 private:
  /// A step whose run is recorded: stands between the kernel and who waits for it.
  class traced_wait final : public completion_target {
   public:
    void begin(const Bound& plan, std::size_t s, const run_context& context, completion done) {
      plan_ = &plan;
      step_ = s;
      context_ = &context;
      done_ = done;
      begin_ns_ = now_ns();
    }
    void complete(std::int32_t, std::exception_ptr problem) noexcept override {
      if (problem != nullptr) return done_.fail(static_cast<std::exception_ptr&&>(problem));
      plan_->add_to_trace(step_, *context_, begin_ns_);
      done_.succeed();
    }

   private:
    const Bound* plan_ = nullptr;
    std::size_t step_ = 0;
    const run_context* context_ = nullptr;
    completion done_;
    std::int64_t begin_ns_ = 0;
  };

  [[nodiscard]] static bool needs_variable(const plan::plan_view& plan, const plan::plan_step& step) {
    bool needs = plan.nodes[step.node].is_in(plan::storage_kind::variable);
    for (int k = 0; k < step.operands; ++k)
      needs = needs || plan.nodes[plan.operands[step.first_operand + k]].is_in(plan::storage_kind::variable);
    return needs;
  }

  Bound& plan_;
  heap_array<traced_wait> waits_;  // one a step
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
