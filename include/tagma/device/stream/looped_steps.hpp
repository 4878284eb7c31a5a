// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The steps of a bound plan with loops on devices with streams, where steps wait or extents are found late: each loop
/// is one step.

#include "tagma/base/config.hpp"
#include "tagma/device/stream/loop_body.hpp"
#include "tagma/runtime/session_pools.hpp"

namespace tagma::device::stream {

/// Who runs the steps goes by what they wait for, as on the host: what waits holds up nothing that does not follow it.
/// A step of a device is done for them once it is in its stream, since each device has one.
class looped_steps final : public runtime::accelerated_steps, runtime::run_steps {
 public:
  TAGMA_COLD looped_steps(kernel_sources& sources, local_devices& devices, runtime::bound_plan& plan,
                          const runtime::run_context& context)
      : plan_(plan), body_(sources, devices, plan), words_(sources, devices, plan), loop_of_(plan.step_count()) {
    for (std::int16_t& l : loop_of_) l = -1;
    const array_view<const plan::plan_loop> loops = plan.plan().loops;
    for (std::size_t l = 0; l < loops.size(); ++l)
      for (std::int32_t s = loops[l].first; s < loops[l].end && loops[l].parent < 0; ++s)
        loop_of_[s] = static_cast<std::int16_t>(l);
    body_.prepare(0, plan.step_count(), context, words_);
  }

  TAGMA_COLD void run_around_loops(runtime::run_steps& host, const runtime::run_context& context,
                                   const runtime::session_pools& pools, runtime::step_pool* pool) override {
    host_ = &host;
    control_ = context.control;
    failed_loop_.store(plan_.step_count());
    body_.take(host, context);
    words_.write(context);
    try {
      body_.copy_words(words_, false);
      do_steps(pools, pool);
      if (control_->stopping()) return body_.drain();
      body_.copy_words(words_, true);
      body_.settle();
      words_.check();
    } catch (...) {
      body_.drain();
      control_->failed(std::current_exception());
    }
  }

 private:
  void do_steps(const runtime::session_pools& pools, runtime::step_pool* pool) {
    if (plan_.asynchronous())
      plan_.shared_steps()->run(*control_, pool, pool == nullptr, *this);
    else if (pool == nullptr)
      runtime::run_in_order(*control_, *this, plan_.step_count());
    else
      pools.run(*pool, *control_, *this, plan_.step_count());
  }

  void step(std::size_t s) override {
    const mutex_lock lock(mutex_);
    const std::int16_t loop = loop_of_[s];
    if (loop < 0) return body_.run_step(s);
    if (static_cast<std::size_t>(plan_.plan().loops[loop].first) != s) return;
    try {
      body_.run(static_cast<std::size_t>(loop), *plan_.loops(), *control_);
    } catch (...) {
      failed_loop_.store(s);  // what it throws has a name
      throw;
    }
  }
  void start(std::size_t s, runtime::completion done) override {
    const mutex_lock lock(mutex_);
    body_.settle();
    host_->start(s, done);
  }
  [[nodiscard]] std::exception_ptr named(std::size_t s, std::exception_ptr error) noexcept override {
    return s == failed_loop_.load() ? error : host_->named(s, static_cast<std::exception_ptr&&>(error));
  }
  void enter() override { host_->enter(); }
  void leave() override { host_->leave(); }
  void read_variables() override { host_->read_variables(); }

  runtime::bound_plan& plan_;
  loop_body body_;
  run_words words_;
  heap_array<std::int16_t> loop_of_;  // of each step, the outermost loop, or -1
  mutex mutex_;                       // threads of a pool do one step at a time
  runtime::run_steps* host_ = nullptr;
  runtime::run_control* control_ = nullptr;
  atomic<std::size_t> failed_loop_{0};
};

}  // namespace tagma::device::stream
