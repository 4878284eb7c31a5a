// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of whole_run.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/whole_run.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL void name_steps(run_control& control, run_steps& steps, std::size_t next, std::size_t count) {
  if (next > 0) name_step(control, steps, next - 1, run_control::list::done_last);
  for (; next < count; ++next) name_step(control, steps, next, run_control::list::not_finished);
}

TAGMA_DECL void run_in_order(run_control& control, run_steps& steps, std::size_t count) {
  std::size_t s = 0;
  try {
    for (; s < count && !control.stopping(); ++s) steps.step(s);
    if (control.stopped()) name_steps(control, steps, s, count);
  } catch (...) {
    control.failed(steps.named(s, std::current_exception()));
  }
}

TAGMA_DECL void whole_run::run(step_pool& threads) {
  if (!threads.offer(*this)) return run_in_order(control_, steps_, count_);
  threads.call_helpers(1);
  for (;;) {
    const std::uint32_t seen = events_.load(memory_order::acquire);
    if (ended_.load(memory_order::acquire)) break;
    if (control_.ending()) {
      control_.tell();
      if (!begun_.exchange(true)) {
        control_.leave_out();
        name_steps(control_, steps_, 0, count_);
        break;
      }
    }
    control_.wait(events_, seen);
  }
  threads.withdraw(*this);
}

TAGMA_DECL void whole_run::help() noexcept {
  if (begun_.exchange(true)) return;
  run_in_order(control_, steps_, count_);
  ended_.store(true, memory_order::release);
  events_.change(true);
}

TAGMA_COLD TAGMA_DECL void run_on_pool(step_pool& threads, run_control& control, run_steps& steps, std::size_t count) {
  whole_run(control, steps, count).run(threads);
}

}  // namespace tagma::runtime
