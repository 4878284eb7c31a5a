// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs the steps of a plan in its order, on the thread that asks for the run or on one of a pool.

#include "tagma/base/config.hpp"
#include "tagma/runtime/step_runner.hpp"

namespace tagma::runtime {

/// Names the first steps from `next` on, and the one before, in the error of a run that is late.
void name_steps(run_control& control, run_steps& steps, std::size_t next, std::size_t count);

/// Does steps 0 to `count` - 1 on this thread, until something goes wrong.
void run_in_order(run_control& control, run_steps& steps, std::size_t count);

/// All steps of a run as one piece of work for a thread of a pool.
class whole_run final : public shared_work {
 public:
  whole_run(run_control& control, run_steps& steps, std::size_t count)
      : shared_work(1), control_(control), steps_(steps), count_(count) {}

  /// Returns when all steps have ended; sleeps meanwhile. A run that is stopped before a thread came to it does not
  /// wait for one.
  void run(step_pool& threads);

  [[nodiscard]] bool open() const noexcept override { return !begun_.load(memory_order::relaxed); }
  TAGMA_DECL void help() noexcept override;

 private:
  run_control& control_;
  run_steps& steps_;
  std::size_t count_;
  atomic<bool> begun_{false};
  atomic<bool> ended_{false};
  wait_word events_;
};

/// Does steps 0 to `count` - 1 on a thread of the pool and returns when they have ended.
void run_on_pool(step_pool& threads, run_control& control, run_steps& steps, std::size_t count);

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/whole_run.ipp"
#endif
