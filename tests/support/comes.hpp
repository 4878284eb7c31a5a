// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How tests wait for other threads. How long a thread stays away is the machine's affair: what must come has a minute
/// to come in, and what must come before a deadline is tried again with a later one.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace tagma::test {

inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/// Returns once `happened`, or after a minute; true if it came to that.
template <class Condition>
bool comes(const Condition& happened) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end) return happened();
    sleep_ms(1);
  }
  return true;
}

/// Calls `attempt(limit)` with 20 ms, and with five times as many until it is true: that what is to be late had begun.
/// False if more than a minute was not enough.
template <class Attempt>
bool given_time(const Attempt& attempt) {
  for (std::chrono::milliseconds limit(20); limit < std::chrono::minutes(2); limit *= 5)
    if (attempt(limit)) return true;
  return false;
}

/// A token that stops no run, and that knows when a run which is given it and this timeout has found itself late.
class late_watch {
 public:
  explicit late_watch(std::chrono::nanoseconds timeout) : timeout_(timeout) {}

  [[nodiscard]] bool stop_requested() const {
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    std::int64_t first = never;
    if (first_.compare_exchange_strong(first, now.count())) first = now.count();
    // The run began before it looked first, and looks at the time right behind this.
    if (now.count() > first + timeout_.count()) late_ = true;
    return false;
  }
  [[nodiscard]] bool late() const { return late_; }

 private:
  static constexpr std::int64_t never = INT64_MIN;

  std::chrono::nanoseconds timeout_;
  mutable std::atomic<std::int64_t> first_{never};  ///< look at the time, by any thread of the run
  mutable std::atomic<bool> late_{false};
};

}  // namespace tagma::test
