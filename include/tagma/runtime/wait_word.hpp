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

#include <time.h>

#include <cstdint>

#include "tagma/base/atomic.hpp"

namespace tagma::runtime {

/// The monotonic clock, in nanoseconds.
[[nodiscard]] inline std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

inline void relax() {
#if defined(__x86_64__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A number of changes, which threads can wait for. A change costs no call of the system while nobody sleeps.
class wait_word {
 public:
  [[nodiscard]] std::uint32_t load(memory_order order) const { return word_.load(order); }

  /// Waits until the number is no longer `seen`: a short while awake, then asleep until somebody changes it.
  void wait(std::uint32_t seen) { wait_until(seen, never); }

  /// The same, until `end_ns` of the monotonic clock at most.
  void wait_until(std::uint32_t seen, std::int64_t end_ns) {
    if (!changes_soon(seen)) sleep_until(seen, end_ns);
  }
  /// Waits a short while awake. True if the number is no longer `seen`.
  [[nodiscard, gnu::noinline]] bool changes_soon(std::uint32_t seen) const {
    for (int i = 0; i < 1000; ++i) {
      if (word_.load(memory_order::acquire) != seen) return true;
      relax();
    }
    return false;
  }
  /// Waits asleep.
  [[gnu::noinline]] void sleep_until(std::uint32_t seen, std::int64_t end_ns) {
    // Whoever changes the word looks at the sleepers afterwards, and the system looks at the word before it puts this
    // thread to sleep: one of them sees the other.
    sleepers_.fetch_add(1);
    while (word_.load(memory_order::acquire) == seen && (end_ns == never || now_ns() < end_ns)) sleep(seen, end_ns);
    sleepers_.fetch_sub(1, memory_order::relaxed);
  }
  static constexpr std::int64_t never = 0x7fff'ffff'ffff'ffff;

  /// Changes the number and wakes one thread that waits for that, or all. A signal handler may do it, too.
  void change(bool all) {
    change_awake();
    wake(all ? 0x7fffffff : 1);
  }
  /// The two halves of a change: threads that wait awake see the first; the second wakes `count` of those asleep.
  /// @{
  void change_awake() { word_.fetch_add(1); }
  [[gnu::noinline]] void wake(int count) {
    if (sleepers_.load() == 0) return;
#if defined(__linux__)
    syscall(SYS_futex, word_.address(), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
#else
    static_cast<void>(count);
#endif
  }
  /// @}

 private:
  void sleep(std::uint32_t seen, std::int64_t end_ns) {
#if defined(__linux__)
    timespec end{};
    end.tv_sec = static_cast<time_t>(end_ns / 1'000'000'000);
    end.tv_nsec = static_cast<long>(end_ns % 1'000'000'000);
    // Unlike FUTEX_WAIT, this takes a moment and not a duration.
    syscall(SYS_futex, word_.address(), FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen, end_ns == never ? nullptr : &end,
            nullptr, FUTEX_BITSET_MATCH_ANY);
#else
    static_cast<void>(seen), static_cast<void>(end_ns);
    sched_yield();
#endif
  }

  atomic<std::uint32_t> word_{0};
  atomic<std::uint32_t> sleepers_{0};
};

}  // namespace tagma::runtime
