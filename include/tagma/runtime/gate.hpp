// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Deadlines, cancellation, and the gate that lets runs that only read variables pass together, and runs that update
/// them one at a time.

#include <type_traits>

#include <time.h>

#include "tagma/base/atomic.hpp"
#include "tagma/base/error.hpp"
#include "tagma/runtime/mutex.hpp"

namespace tagma {

/// Cancels runs from another thread: give the same object to `run` and call `cancel`.
class cancellation {
 public:
  void cancel() noexcept { cancelled_.store(true, memory_order::release); }
  void reset() noexcept { cancelled_.store(false, memory_order::release); }
  [[nodiscard]] bool stop_requested() const noexcept { return cancelled_.load(memory_order::acquire); }

 private:
  atomic<bool> cancelled_{false};
};

namespace runtime {
class trace_sink;
}

/// What a run is given beside its feeds: when it must be done, who may stop it, and who is told of its steps.
struct run_limits {
  std::int64_t timeout_ns = 0;  ///< 0: none
  const void* stop = nullptr;
  bool (*stopped)(const void*) = nullptr;
  runtime::trace_sink* trace = nullptr;
};

/// The longest time that a run may take: `timeout(500ms)` or any other std::chrono duration.
template <class Duration>
  requires requires(Duration d) {
    d.count();
    Duration::period::num;
  }
[[nodiscard]] constexpr run_limits timeout(Duration d) {
  using period = typename Duration::period;
  const auto ns =
      static_cast<double>(d.count()) * 1e9 * static_cast<double>(period::num) / static_cast<double>(period::den);
  return {ns < 1 ? 1 : static_cast<std::int64_t>(ns), nullptr, nullptr, nullptr};
}

/// Stops the run when `token.stop_requested()`, as of `tagma::cancellation` and `std::stop_token`. The token must
/// outlive the run.
template <class Token>
  requires requires(const Token& t) { t.stop_requested(); }
[[nodiscard]] constexpr run_limits stop_with(const Token& token) {
  return {0, &token, [](const void* t) { return static_cast<bool>(static_cast<const Token*>(t)->stop_requested()); },
          nullptr};
}

namespace runtime {

[[nodiscard]] inline std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// Limits with an absolute end.
class run_guard {
 public:
  explicit run_guard(const run_limits& limits)
      : limits_(limits), end_(limits.timeout_ns > 0 ? now_ns() + limits.timeout_ns : 0) {}

  [[nodiscard]] bool limited() const { return end_ != 0 || limits_.stopped != nullptr; }

  /// Throws if the run was cancelled or is late.
  void check() const {
    if (limits_.stopped != nullptr && limits_.stopped(limits_.stop))
      fail(status_code::cancelled, "the run was cancelled");
    if (end_ != 0 && now_ns() > end_)
      fail(status_code::deadline_exceeded,
           {"the run took longer than its timeout of ", limits_.timeout_ns / 1'000'000, " ms"});
  }

 private:
  run_limits limits_;
  std::int64_t end_;
};

/// Many readers or one writer. Waiting writers go first, so that readers cannot starve them.
class gate {
 public:
  void enter(bool exclusive, const run_guard& guard) {
    const mutex_lock lock(mutex_);
    if (exclusive) ++waiting_;
    const auto free = [&] { return exclusive ? readers_ == 0 && !writer_ : !writer_ && waiting_ == 0; };
    try {
      while (!free()) {
        if (!guard.limited()) {
          changed_.wait(mutex_);
          continue;
        }
        guard.check();
        changed_.wait_for(mutex_, 1'000'000);  // then look at the limits again
      }
    } catch (...) {
      if (exclusive) --waiting_;
      changed_.notify_all();
      throw;
    }
    if (exclusive)
      --waiting_, writer_ = true;
    else
      ++readers_;
  }
  void leave(bool exclusive) {
    const mutex_lock lock(mutex_);
    if (exclusive)
      writer_ = false;
    else
      --readers_;
    changed_.notify_all();
  }

 private:
  mutex mutex_;
  condition changed_;
  int readers_ = 0;
  int waiting_ = 0;
  bool writer_ = false;
};

}  // namespace runtime
}  // namespace tagma
