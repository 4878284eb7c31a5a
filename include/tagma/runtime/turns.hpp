// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Threads that are simulated: where one would sleep, it says so, and somebody else decides when it goes on.

#include <cstdint>

#include "tagma/base/config.hpp"

namespace tagma::runtime {

class wait_word;

/// Who lets the threads of a simulated process go on, one at a time. What waits at a `wait_word`, reads the clock,
/// draws numbers or starts threads asks it, where the thread has one; all others never come here.
class turns {
 public:
  /// The clock, in nanoseconds.
  [[nodiscard]] virtual std::int64_t now() const = 0;
  /// Returns when the word was woken, or the clock shows `end_ns`.
  virtual void sleep(const wait_word& at, std::int64_t end_ns) = 0;
  /// Lets up to so many threads go on that sleep there.
  virtual void wake(const wait_word& at, int count) = 0;
  /// Others may go on before this thread does: a place where the system could take it off its processor.
  virtual void pass() = 0;
  /// Calls a function soon, on a thread of its own.
  virtual void start(void (*what)(void*), void* with) = 0;
  /// A number that nobody else has.
  [[nodiscard]] virtual std::uint64_t draw() = 0;

 protected:
  ~turns() = default;
};

/// Of this thread; nullptr for one that sleeps by itself.
inline constinit thread_local turns* turns_here = nullptr;

}  // namespace tagma::runtime
