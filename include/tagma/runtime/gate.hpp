// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The gate that lets runs that only read variables pass together, and runs that update them one at a time.

#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/run_limits.hpp"

namespace tagma::runtime {

/// Many readers or one writer. Waiting writers go first, so that readers cannot starve them.
class gate {
 public:
  /// Waits until the caller may pass. Throws if the limits of its run end the wait.
  void enter(bool exclusive, const run_guard& guard) {
    mutex_.lock();
    if (exclusive) ++waiting_;
    if (is_closed(exclusive)) wait(exclusive, guard);
    if (exclusive)
      --waiting_, writer_ = true;
    else
      ++readers_;
    mutex_.unlock();
  }
  [[gnu::noinline]] void leave(bool exclusive) {
    const mutex_lock lock(mutex_);
    if (exclusive)
      writer_ = false;
    else
      --readers_;
    if (asleep_ > 0) changed_.change(true);
  }

 private:
  [[nodiscard]] bool is_closed(bool exclusive) const {
    return exclusive ? readers_ > 0 || writer_ : writer_ || waiting_ > 0;
  }
  TAGMA_COLD void wait(bool exclusive, const run_guard& guard) {
    do {
      const std::uint32_t seen = changed_.load(memory_order::relaxed);
      ++asleep_;
      mutex_.unlock();
      const status_code reason = guard.over();
      if (reason == status_code::ok) guard.wait(changed_, seen);
      mutex_.lock();
      --asleep_;
      if (reason != status_code::ok) give_up(exclusive, guard, reason);
    } while (is_closed(exclusive));
  }
  [[noreturn]] TAGMA_COLD void give_up(bool exclusive, const run_guard& guard, status_code reason) {
    if (exclusive) --waiting_;
    if (asleep_ > 0) changed_.change(true);
    mutex_.unlock();
    guard.explain(reason, exclusive ? " while it waited for the variables that it updates"
                                    : " while it waited for the variables that it reads");
  }

  mutex mutex_;
  wait_word changed_;
  int readers_ = 0;
  int waiting_ = 0;
  int asleep_ = 0;
  bool writer_ = false;
};

}  // namespace tagma::runtime
