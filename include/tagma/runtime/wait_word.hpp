// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Waiting for a word of memory to change: what std::atomic has as `wait` and `notify_all`.

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

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A number of changes, which threads can wait for. A change costs no call of the system while nobody sleeps.
class wait_word {
 public:
  [[nodiscard]] std::uint32_t load(memory_order order) const { return word_.load(order); }

  /// Waits until the number is no longer `seen`: a short while awake, then asleep until somebody changes it.
  [[gnu::noinline]] void wait(std::uint32_t seen) {
    for (int i = 0; i < 1000; ++i) {
      if (word_.load(memory_order::acquire) != seen) return;
      relax();
    }
    // Whoever changes the word looks at the sleepers afterwards, and the system looks at the word before it puts this
    // thread to sleep: one of them sees the other.
    sleepers_.fetch_add(1);
    while (word_.load(memory_order::acquire) == seen) {
#if defined(__linux__)
      syscall(SYS_futex, word_.address(), FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
#else
      sched_yield();
#endif
    }
    sleepers_.fetch_sub(1, memory_order::relaxed);
  }

  /// Changes the number and wakes one thread that waits for that, or all.
  [[gnu::noinline]] void change(bool all) {
    word_.fetch_add(1);
    if (sleepers_.load() == 0) return;
#if defined(__linux__)
    syscall(SYS_futex, word_.address(), FUTEX_WAKE_PRIVATE, all ? 0x7fffffff : 1, nullptr, nullptr, 0);
#else
    static_cast<void>(all);
#endif
  }

 private:
  atomic<std::uint32_t> word_{0};
  atomic<std::uint32_t> sleepers_{0};
};

}  // namespace tagma::runtime
