// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a run is given beside its feeds: when it must be done, who may stop it, whose threads do its steps.

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/located.hpp"
#include "tagma/runtime/closing.hpp"

namespace tagma {

/// Cancels runs from another thread or from a signal handler: give the same object to `run` and call `cancel`. A run
/// that sleeps wakes at once.
class cancellation {
 public:
  cancellation() = default;
  cancellation(const cancellation&) = delete;
  cancellation& operator=(const cancellation&) = delete;

  /// Ends the runs that this was given to with Cancelled, from any thread.
  void cancel() noexcept;
  /// Runs may begin again.
  void reset() noexcept { cancelled_.store(false, memory_order::release); }
  /// True after `cancel`.
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
  sleeper(const cancellation& c, runtime::wait_word& word);
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;
  ~sleeper();
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

/// Who may stop a run.
struct stop_source {
  const void* token = nullptr;
  bool (*requested)(const void*) = nullptr;  ///< nullptr: nobody
  const cancellation* wakes = nullptr;       ///< a run that sleeps; without it the run looks at the token now and then
  const stop_source* next = nullptr;         ///< another one
};

/// What a run is given beside its feeds. Of several, the earliest end counts, and any token stops the run; two pools or
/// two timelines are an error.
struct run_limits : located<run_limits> {
  static constexpr int any_pool = -0x7fffffff;

  std::int64_t timeout_ns = 0;  ///< 0: that of the session, below 0: none
  stop_source stop;
  runtime::trace_sink* trace = nullptr;
  int pool = any_pool;  ///< one of the session's pools; -1: the thread that calls
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
/// duration. A run that is given no time is late. Of several the shortest counts.
template <duration_like Duration>
[[nodiscard]] constexpr run_limits timeout(Duration d) {
  const std::int64_t ns = time_limit(d).ns();
  run_limits l;
  l.timeout_ns = ns < 1 ? 1 : ns;
  return l;
}

/// A run that may take as long as it likes, whatever the session allows. Beside a `timeout`, that holds.
[[nodiscard]] constexpr run_limits no_timeout() {
  run_limits l;
  l.timeout_ns = -1;
  return l;
}

/// Stops the run when `token.stop_requested()`, as of std::stop_token. The token must outlive the run. A run that
/// sleeps looks at it every ten milliseconds. Of several any one stops the run.
template <class Token>
  requires requires(const Token& t) { t.stop_requested(); }
[[nodiscard]] constexpr run_limits stop_with(const Token& token) {
  run_limits l;
  l.stop.token = &token;
  l.stop.requested = [](const void* t) { return static_cast<bool>(static_cast<const Token*>(t)->stop_requested()); };
  return l;
}
/// Stops the run when `token.cancel()` is called, at once if the run sleeps.
[[nodiscard]] constexpr run_limits stop_with(const cancellation& token) {
  run_limits l;
  l.stop.token = l.stop.wakes = &token;
  l.stop.requested = [](const void* t) { return static_cast<const cancellation*>(t)->stop_requested(); };
  return l;
}

/// Chooses the threads that do the steps of a run: those of pool `index` of the session's `inter_op_pools`.
[[nodiscard]] constexpr run_limits on_pool(int index) {
  run_limits l;
  l.pool = index;
  return l;
}
/// The steps of a run are done by the thread that calls, one after the other. Large kernels share their work with other
/// threads as ever.
[[nodiscard]] constexpr run_limits on_caller_thread() { return on_pool(-1); }

namespace runtime {

inline constexpr run_limits no_limits;

/// Makes the first of several limits all of them; it refers to the tokens of the others. Throws InvalidArgument for two
/// pools or timelines.
void join(array_view<run_limits> given);

/// The limits that a run is given. A program that never gives several does not compile what joins them.
struct given_limits {
  array_view<run_limits> all;
  void (*join)(array_view<run_limits>) = nullptr;  ///< nullptr for one or none
};

/// Limits with an absolute end, and the end of the session.
class run_guard {
 public:
  /// @param session_timeout_ns where the run has none of its own; 0: none
  /// @param session whose end stops the run as well; nullptr: none
  explicit run_guard(const run_limits& limits, std::int64_t session_timeout_ns = 0, closing* session = nullptr);

  /// False: there is no reason to stop.
  [[nodiscard]] bool limited() const { return limited_ || closed(); }
  /// Why the run must stop: cancelled, deadline_exceeded, or ok if it need not.
  [[nodiscard]] status_code over() const;
  /// Throws if the run was cancelled or is late.
  void check() const;
  /// Throws the error that says so.
  /// @param meanwhile what the run did then: " while ..."
  [[noreturn]] void explain(status_code reason, std::string_view meanwhile = {}) const;

  /// Waits until the word is no longer `seen`, or until there may be a reason to stop.
  void wait(wait_word& word, std::uint32_t seen) const;

 private:
  [[nodiscard]] bool closed() const { return session_ != nullptr && session_->begun(); }

  /// Sleeps until the word changes, until `end` at most. Who may stop the run is told of the word, or looked at.
  static void sleep(const stop_source* first, wait_word& word, std::uint32_t seen, std::int64_t end);

  stop_source stop_;
  std::int64_t timeout_ns_;
  std::int64_t end_;
  closing* session_;
  bool limited_;
};

}  // namespace runtime
}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/run_limits.ipp"
#endif
