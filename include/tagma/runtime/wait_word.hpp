// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Waiting for a word of memory to change: what std::atomic has as `wait` and `notify_all`, and the same until a
/// moment.

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

#include <cstdint>

#include "tagma/base/atomic.hpp"

namespace tagma::runtime {

/// The monotonic clock, in nanoseconds.
[[nodiscard]] std::int64_t now_ns();

/// The moment that is `ns` behind `now`; the end of time if that is later.
[[nodiscard]] constexpr std::int64_t later(std::int64_t now, std::int64_t ns) {
  return ns > 0 && now > INT64_MAX - ns ? INT64_MAX : now + ns;
}

void relax();

/// A number of changes, which threads can wait for. A change costs no call of the system while nobody sleeps.
class wait_word {
 public:
  [[nodiscard]] std::uint32_t load(memory_order order) const { return word_.load(order); }

  /// Waits until the number is no longer `seen`: a short while awake, then asleep until somebody changes it.
  void wait(std::uint32_t seen) { wait_until(seen, never); }

  /// The same, until `end_ns` of the monotonic clock at most.
  void wait_until(std::uint32_t seen, std::int64_t end_ns);
  /// Waits awake, `ns` at most. True if the number is no longer `seen`.
  [[nodiscard]] bool changes_within(std::uint32_t seen, std::int64_t ns) const;
  /// A short while, about as long as it takes to be put to sleep and woken.
  static constexpr std::int64_t soon = 20'000;
  /// Waits asleep.
  void sleep_until(std::uint32_t seen, std::int64_t end_ns);
  static constexpr std::int64_t never = 0x7fff'ffff'ffff'ffff;

  /// Changes the number and wakes one thread that waits for that, or all. A signal handler may do it, too.
  void change(bool all);
  /// The two halves of a change: threads that wait awake see the first; the second wakes `count` of those asleep.
  /// @{
  void change_awake() { word_.fetch_add(1); }
  void wake(int count);
  /// @}
  /// Behind a change, whether some thread slept that may have to be woken.
  [[nodiscard]] bool has_sleepers() const { return sleepers_.load() != 0; }

 private:
  void sleep(std::uint32_t seen, std::int64_t end_ns);

  atomic<std::uint32_t> word_{0};
  atomic<std::uint32_t> sleepers_{0};
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/wait_word.ipp"
#endif
