// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Waiting for a word of memory to change.

#include <atomic>
#include <cstdint>

namespace tagma::runtime {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `word` is no longer `seen`: a short while awake, then asleep until somebody notifies.
[[gnu::noinline]] inline void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  for (int i = 0; i < 1000; ++i) {
    if (word.load(std::memory_order_acquire) != seen) return;
    relax();
  }
  word.wait(seen, std::memory_order_acquire);
}

/// Changes `word` and wakes one thread that waits for that, or all.
[[gnu::noinline]] inline void change(std::atomic<std::uint32_t>& word, bool all) {
  word.fetch_add(1, std::memory_order_acq_rel);
  all ? word.notify_all() : word.notify_one();
}

}  // namespace tagma::runtime
