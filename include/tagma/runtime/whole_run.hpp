// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs the steps of a plan in its order, on the thread that asks for the run or on one of a pool.

#include "tagma/base/config.hpp"
#include "tagma/runtime/step_runner.hpp"

namespace tagma::runtime {

/// Names the first steps from `next` on, and the one before, in the error of a run that is late.
TAGMA_COLD inline void name_steps(run_control& control, run_steps& steps, std::size_t next, std::size_t count) {
  if (next > 0) name_step(control, steps, next - 1, run_control::list::done_last);
  for (; next < count; ++next) name_step(control, steps, next, run_control::list::not_finished);
}

/// Does steps 0 to `count` - 1 on this thread, until something goes wrong.
inline void run_in_order(run_control& control, run_steps& steps, std::size_t count) {
  std::size_t s = 0;
  try {
    for (; s < count && !control.stopping(); ++s) steps.step(s);
    if (control.stopped()) name_steps(control, steps, s, count);
  } catch (...) {
    control.failed(steps.named(s, std::current_exception()));
  }
}

/// All steps of a run as one piece of work for a thread of a pool.
class whole_run final : public shared_work {
 public:
  whole_run(run_control& control, run_steps& steps, std::size_t count)
      : shared_work(1), control_(control), steps_(steps), count_(count) {}

  /// Returns when all steps have ended; sleeps meanwhile. A run that is stopped before a thread came to it does not
  /// wait for one.
  void run(step_pool& threads) {
    if (!threads.offer(*this)) return run_in_order(control_, steps_, count_);
    threads.call_helpers(1);
    for (;;) {
      const std::uint32_t seen = events_.load(memory_order::acquire);
      if (ended_.load(memory_order::acquire)) break;
      if (control_.stopping()) {
        control_.tell();
        if (!begun_.exchange(true)) {
          name_steps(control_, steps_, 0, count_);
          break;
        }
      }
      control_.wait(events_, seen);
    }
    threads.withdraw(*this);
  }

  [[nodiscard]] bool open() const noexcept override { return !begun_.load(memory_order::relaxed); }
  void help() noexcept override {
    if (begun_.exchange(true)) return;
    run_in_order(control_, steps_, count_);
    ended_.store(true, memory_order::release);
    events_.change(true);
  }

 private:
  run_control& control_;
  run_steps& steps_;
  std::size_t count_;
  atomic<bool> begun_{false};
  atomic<bool> ended_{false};
  wait_word events_;
};

/// Does steps 0 to `count` - 1 on a thread of the pool and returns when they have ended.
TAGMA_COLD inline void run_on_pool(step_pool& threads, run_control& control, run_steps& steps, std::size_t count) {
  whole_run(control, steps, count).run(threads);
}

}  // namespace tagma::runtime
