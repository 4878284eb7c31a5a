// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a run is given beside its feeds: when it must be done, who may stop it, whose threads do its steps.

#include <sched.h>

#include "tagma/base/error.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma {

/// Cancels runs from another thread or from a signal handler: give the same object to `run` and call `cancel`. A run
/// that sleeps wakes at once.
class cancellation {
 public:
  cancellation() = default;
  cancellation(const cancellation&) = delete;
  cancellation& operator=(const cancellation&) = delete;

  void cancel() noexcept {
    cancelled_.store(true);
    waking_.fetch_add(1);
    for (atomic<runtime::wait_word*>& place : sleepers_)
      if (runtime::wait_word* const word = place.load()) word->change(true);
    waking_.fetch_sub(1);
  }
  void reset() noexcept { cancelled_.store(false, memory_order::release); }
  [[nodiscard]] bool stop_requested() const noexcept { return cancelled_.load(memory_order::acquire); }

  class sleeper;

 private:
  static constexpr int places = 16;

  atomic<bool> cancelled_{false};
  mutable atomic<int> waking_{0};
  mutable atomic<runtime::wait_word*> sleepers_[places]{};
};

/// `cancel` changes a word while this lives.
class cancellation::sleeper {
 public:
  sleeper(const cancellation& c, runtime::wait_word& word) : cancellation_(c) {
    while (place_ < places && !c.sleepers_[place_].replace(nullptr, &word)) ++place_;
  }
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;
  ~sleeper() {
    if (!placed()) return;
    cancellation_.sleepers_[place_].store(nullptr);
    while (cancellation_.waking_.load() != 0) sched_yield();  // whoever cancels may still have the word
  }
  /// False if too many sleep already: then nobody changes the word.
  [[nodiscard]] bool placed() const { return place_ < places; }
  /// True if `cancel` was called before, and perhaps did not see this.
  [[nodiscard]] bool too_late() const { return cancellation_.cancelled_.load(); }

 private:
  const cancellation& cancellation_;
  int place_ = 0;
};

namespace runtime {
class trace_sink;
}

/// What a run is given beside its feeds.
struct run_limits {
  std::int64_t timeout_ns = 0;  ///< 0: that of the session, below 0: none
  const void* stop = nullptr;
  bool (*stopped)(const void*) = nullptr;
  const cancellation* wakes =
      nullptr;  ///< who wakes a run that sleeps; without it the run looks at `stopped` now and then
  runtime::trace_sink* trace = nullptr;
  int pool = 0;  ///< one of the session's pools; -1: the thread that calls
};

/// A duration of std::chrono without <chrono>.
template <class T>
concept duration_like = requires(T d) {
  d.count();
  T::period::num;
};

/// A length of time in the options of a session: any std::chrono duration; at most 2^62 ns, which is 146 years. 0 is
/// endless.
class time_limit {
 public:
  constexpr time_limit() = default;
  template <duration_like Duration>
  constexpr time_limit(Duration d)
      : time_limit(static_cast<double>(d.count()) * 1e9 * static_cast<double>(Duration::period::num) /
                   static_cast<double>(Duration::period::den)) {}
  /// 0: endless. Sessions refuse what is below 0.
  [[nodiscard]] constexpr std::int64_t ns() const { return ns_; }

 private:
  static constexpr std::int64_t longest = std::int64_t{1} << 62;

  constexpr explicit time_limit(double ns)
      : ns_(ns >= 0x1p62    ? longest
            : ns <= -0x1p62 ? -longest
                            : static_cast<std::int64_t>(ns)) {}

  std::int64_t ns_ = 0;
};

/// The longest time that a run may take, whatever the session allows: `timeout(500ms)` or any other std::chrono
/// duration. A run that is given no time is late.
template <duration_like Duration>
[[nodiscard]] constexpr run_limits timeout(Duration d) {
  const std::int64_t ns = time_limit(d).ns();
  return {.timeout_ns = ns < 1 ? 1 : ns};
}

/// A run that may take as long as it likes, whatever the session allows.
[[nodiscard]] constexpr run_limits no_timeout() { return {.timeout_ns = -1}; }

/// Stops the run when `token.stop_requested()`, as of std::stop_token. The token must outlive the run. A run that
/// sleeps looks at it every ten milliseconds.
template <class Token>
  requires requires(const Token& t) { t.stop_requested(); }
[[nodiscard]] constexpr run_limits stop_with(const Token& token) {
  return {.stop = &token,
          .stopped = [](const void* t) { return static_cast<bool>(static_cast<const Token*>(t)->stop_requested()); }};
}
/// Stops the run when `token.cancel()` is called, at once if the run sleeps.
[[nodiscard]] constexpr run_limits stop_with(const cancellation& token) {
  return {.stop = &token,
          .stopped = [](const void* t) { return static_cast<const cancellation*>(t)->stop_requested(); },
          .wakes = &token};
}

/// Chooses the threads that do the steps of a run: those of pool `index` of the session's `inter_op_pools`.
[[nodiscard]] constexpr run_limits on_pool(int index) { return {.pool = index}; }
/// The steps of a run are done by the thread that calls, one after the other. Large kernels share their work with other
/// threads as ever.
[[nodiscard]] constexpr run_limits on_caller_thread() { return {.pool = -1}; }

namespace runtime {

/// Limits with an absolute end.
class run_guard {
 public:
  explicit run_guard(const run_limits& limits)
      : limits_(limits), end_(limits.timeout_ns > 0 ? now_ns() + limits.timeout_ns : wait_word::never) {}

  [[nodiscard]] bool limited() const { return end_ != wait_word::never || limits_.stopped != nullptr; }
  /// Why the run must stop: cancelled, deadline_exceeded, or ok if it need not.
  [[nodiscard]] status_code over() const {
    if (limits_.stopped != nullptr && limits_.stopped(limits_.stop)) return status_code::cancelled;
    return end_ != wait_word::never && now_ns() > end_ ? status_code::deadline_exceeded : status_code::ok;
  }
  /// Throws if the run was cancelled or is late.
  void check() const {
    if (const status_code reason = over(); reason != status_code::ok) explain(reason);
  }
  /// Throws the error that says so.
  /// @param meanwhile what the run did then: " while ..."
  [[noreturn]] TAGMA_COLD void explain(status_code reason, std::string_view meanwhile = {}) const {
    if (reason == status_code::cancelled) fail(reason, "the run was cancelled");
    fail(reason, {"the run took longer than its timeout of ", limits_.timeout_ns / 1'000'000, " ms", meanwhile});
  }

  /// Waits until the word is no longer `seen`, or until there may be a reason to stop.
  void wait(wait_word& word, std::uint32_t seen) const {
    if (limits_.stopped == nullptr) return word.wait_until(seen, end_);
    if (limits_.wakes != nullptr) {
      const cancellation::sleeper sleeper(*limits_.wakes, word);
      if (sleeper.too_late()) return;
      if (sleeper.placed()) return word.wait_until(seen, end_);
    }
    const std::int64_t look_again = now_ns() + 10'000'000;
    word.wait_until(seen, look_again < end_ ? look_again : end_);
  }

 private:
  run_limits limits_;
  std::int64_t end_;
};

}  // namespace runtime
}  // namespace tagma
