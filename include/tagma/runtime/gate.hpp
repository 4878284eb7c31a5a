// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The gate that lets runs that only read variables pass together, and runs that update them one at a time.

#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/run_limits.hpp"

namespace tagma::runtime {

/// Many readers or one writer. Waiting writers go first, so that readers cannot starve them. Where nobody waits, to
/// pass and to leave are one atomic operation each.
class gate {
 public:
  /// Waits until the caller may pass. Throws if the limits of its run end the wait.
  void enter(bool exclusive, const run_guard& guard) {
    if (!pass(exclusive, 0)) wait(exclusive, guard);
  }
  void leave(bool exclusive) {
    if ((state_.fetch_sub(exclusive ? writer : 1) & waited_for) != 0) changed_.change(true);
  }

 private:
  // The state: how many readers are inside, whether a writer is, and whether somebody waits.
  static constexpr std::uint32_t writer = 1u << 31, waited_for = 1u << 30;

  /// Goes in if nobody is in the way; false if somebody is.
  /// @param known of `waited_for`, what stops nobody: those who wait know of one another
  [[nodiscard]] bool pass(bool exclusive, std::uint32_t known) {
    std::uint32_t now = state_.load(memory_order::relaxed);
    while ((now & (exclusive ? ~known : (writer | waited_for) & ~known)) == 0)
      if (state_.replace(now, now + (exclusive ? writer : 1)))
        return true;
      else
        now = state_.load(memory_order::relaxed);
    return false;
  }

  [[gnu::noinline]] void wait(bool exclusive, const run_guard& guard) {
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
  void begin_wait(bool exclusive) {
    writers_ += exclusive;
    if (waiting_++ == 0) state_.fetch_add(waited_for);
  }
  /// Others may go in now that would not before: readers behind a writer that waited.
  void end_wait(bool exclusive) {
    writers_ -= exclusive;
    if (--waiting_ == 0)
      state_.fetch_sub(waited_for);
    else if (exclusive && writers_ == 0)
      changed_.change(true);
  }
  [[noreturn]] TAGMA_COLD void give_up(bool exclusive, const run_guard& guard, status_code reason) {
    end_wait(exclusive);
    mutex_.unlock();
    guard.explain(reason, exclusive ? " while it waited for the variables that it updates"
                                    : " while it waited for the variables that it reads");
  }

  atomic<std::uint32_t> state_{0};
  mutex mutex_;  // of what follows
  wait_word changed_;
  int waiting_ = 0;
  int writers_ = 0;  // of those who wait
};

}  // namespace tagma::runtime
