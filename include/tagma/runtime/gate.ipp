// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of gate.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/gate.hpp"

namespace tagma::runtime {

TAGMA_DECL void gate::enter(bool exclusive, const run_guard& guard) {
  if (!pass(exclusive, 0)) wait(exclusive, guard);
}

TAGMA_DECL void gate::leave(bool exclusive) {
  if ((state_.fetch_sub(exclusive ? writer : 1) & waited_for) != 0) changed_.change(true);
}

TAGMA_DECL bool gate::pass(bool exclusive, std::uint32_t known) {
  std::uint32_t now = state_.load(memory_order::relaxed);
  while ((now & (exclusive ? ~known : (writer | waited_for) & ~known)) == 0)
    if (state_.replace(now, now + (exclusive ? writer : 1)))
      return true;
    else
      now = state_.load(memory_order::relaxed);
  return false;
}

TAGMA_COLD TAGMA_DECL void gate::wait(bool exclusive, const run_guard& guard) {
  mutex_.lock();
  begin_wait(exclusive);
  for (;;) {
    const std::uint32_t seen = changed_.load(memory_order::acquire);
    if ((exclusive || writers_ == 0) && pass(exclusive, waited_for)) break;
    mutex_.unlock();
    const status_code reason = guard.over();
    if (reason == status_code::ok) guard.wait(changed_, seen);
    mutex_.lock();
    if (reason != status_code::ok) give_up(exclusive, guard, reason);
  }
  end_wait(exclusive);
  mutex_.unlock();
}

TAGMA_COLD TAGMA_DECL void gate::begin_wait(bool exclusive) {
  writers_ += exclusive;
  if (waiting_++ == 0) state_.fetch_add(waited_for);
}

TAGMA_COLD TAGMA_DECL void gate::end_wait(bool exclusive) {
  writers_ -= exclusive;
  if (--waiting_ == 0)
    state_.fetch_sub(waited_for);
  else if (exclusive && writers_ == 0)
    changed_.change(true);
}

TAGMA_COLD TAGMA_DECL void gate::give_up(bool exclusive, const run_guard& guard, status_code reason) {
  end_wait(exclusive);
  mutex_.unlock();
  guard.explain(reason, exclusive ? " while it waited for the variables that it updates"
                                  : " while it waited for the variables that it reads");
}

}  // namespace tagma::runtime
