// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of wait_word.hpp: in the compiled half, or else in each file that includes it.

#include <time.h>

#include "tagma/base/config.hpp"
#include "tagma/runtime/turns.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

TAGMA_DECL std::int64_t now_ns() {
  if (turns_here != nullptr) return turns_here->now();
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

TAGMA_DECL void relax() {
#if defined(__x86_64__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("isb");  // most processors take "yield" for nothing, and a short while would be none
#endif
}

TAGMA_DECL void wait_word::wait_until(std::uint32_t seen, std::int64_t end_ns) {
  if (!changes_within(seen, soon)) sleep_until(seen, end_ns);
}

TAGMA_COLD TAGMA_DECL bool wait_word::changes_within(std::uint32_t seen, std::int64_t ns) const {
  if (turns_here != nullptr) return word_.load(memory_order::acquire) != seen;
  // By the clock: a pause takes 10 ns on some processors and 50 on others.
  const std::int64_t begin = now_ns();
  do {
    for (int i = 0; i < 50; ++i) {
      if (word_.load(memory_order::acquire) != seen) return true;
      relax();
    }
  } while (now_ns() - begin < ns);
  return false;
}

[[gnu::noinline]] TAGMA_DECL void wait_word::sleep_until(std::uint32_t seen, std::int64_t end_ns) {
  // Whoever changes the word looks at the sleepers afterwards, and the system looks at the word before it puts this
  // thread to sleep: one of them sees the other.
  sleepers_.fetch_add(1);
  while (word_.load(memory_order::acquire) == seen && (end_ns == never || now_ns() < end_ns)) sleep(seen, end_ns);
  sleepers_.fetch_sub(1, memory_order::relaxed);
}

TAGMA_DECL void wait_word::change(bool all) {
  change_awake();
  wake(all ? 0x7fffffff : 1);
}

[[gnu::noinline]] TAGMA_DECL void wait_word::wake(int count) {
  if (sleepers_.load() == 0) return;
  if (turns_here != nullptr) return turns_here->wake(*this, count);
#if defined(__linux__)
  syscall(SYS_futex, word_.address(), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
#else
  static_cast<void>(count);
#endif
}

TAGMA_COLD TAGMA_DECL void wait_word::sleep(std::uint32_t seen, std::int64_t end_ns) {
  if (turns_here != nullptr) return turns_here->sleep(*this, end_ns);
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

}  // namespace tagma::runtime
