// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the threads of one run share: whether it goes on, what went wrong, and whom to tell that it ends early.

#include <exception>

#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/run_limits.hpp"

namespace tagma::runtime {

/// An operation that waits, as far as a run must know it: what is called when the run is cancelled, late, or has failed
/// elsewhere. It lives until the run ends, as the state of a kernel does.
class stop_hook {
 public:
  stop_hook() = default;
  stop_hook(const stop_hook&) = delete;
  stop_hook& operator=(const stop_hook&) = delete;

  /// Called once at most, by a thread of the run that holds no lock. What was waiting then ends soon; what is not
  /// waiting any more has nothing to do.
  virtual void stop() noexcept = 0;

 protected:
  ~stop_hook() = default;

 private:
  friend class run_control;
  stop_hook* next_ = nullptr;
};

/// One run. The first thing that goes wrong stops it: no step begins any more, and those that wait are told.
class run_control {
 public:
  explicit run_control(const run_limits& limits) : guard_(limits) {}
  run_control(const run_control&) = delete;
  run_control& operator=(const run_control&) = delete;

  [[nodiscard]] const run_guard& guard() const { return guard_; }
  /// True once the run was told to stop.
  [[nodiscard]] bool stopped() const { return stopped_.load(memory_order::acquire); }
  /// The same; looks at the limits of the run first. As cheap as the clock, and where there are no limits, as one load.
  [[nodiscard]] bool stopping() noexcept { return stopped() || (guard_.limited() && over_limits()); }

  /// From now on `hook.stop()` is called when the run must end early. False if it must already: then nothing is called.
  [[nodiscard]] bool add(stop_hook& hook) noexcept {
    const mutex_lock lock(mutex_);
    if (stopped()) return false;
    hook.next_ = hooks_;
    hooks_ = &hook;
    return true;
  }
  /// True if the run was told to stop and somebody waits who does not know.
  [[nodiscard]] bool must_tell() const { return stopped() && !told_.load(memory_order::acquire); }
  /// Calls the hooks, unless another thread did.
  TAGMA_COLD void tell() noexcept {
    stop_hook* first = nullptr;
    {
      const mutex_lock lock(mutex_);
      told_.store(true, memory_order::release);
      first = hooks_;
      hooks_ = nullptr;
    }
    while (first != nullptr) {
      stop_hook* const hook = first;
      first = hook->next_;  // what it stops may end the step that it belongs to, but not the run
      hook->stop();
    }
  }

  /// A step failed. The first error is that of the run; what an operation says that was told to stop does not count.
  TAGMA_COLD void failed(std::exception_ptr e) noexcept {
    const mutex_lock lock(mutex_);
    note(static_cast<std::exception_ptr&&>(e));
  }

  /// Waits until the word is no longer `seen`, or until the limits may have been reached.
  void wait(wait_word& word, std::uint32_t seen) const {
    if (stopped())
      word.wait(seen);
    else
      guard_.wait(word, seen);
  }

  /// Throws the error of the run if it was told to stop, with the others that came behind it. All steps have ended.
  void finish() {
    if (stopped()) rethrow();
  }

 private:
  static constexpr int most_listed = 4;

  TAGMA_COLD bool over_limits() noexcept {
    const status_code reason = guard_.over();
    if (reason == status_code::ok) return false;
    const mutex_lock lock(mutex_);
    if (first_ == nullptr) {
      try {
        guard_.explain(reason);
      } catch (...) {
        note(std::current_exception());
      }
    }
    return true;
  }

  void note(std::exception_ptr e) noexcept {
    if (first_ == nullptr) {
      first_ = static_cast<std::exception_ptr&&>(e);
      stopped_.store(true, memory_order::release);
      return;
    }
    const caught seen(e);
    if (seen.code == status_code::cancelled || others_++ >= most_listed) return;
    try {
      listed_ +=
          sentence({others_ > 1 ? "; " : "", seen.is_known ? seen.what : "an exception that is no std::exception"});
    } catch (...) {  // no memory for it: it is counted
    }
  }

  [[noreturn]] TAGMA_COLD void rethrow() {
    const caught seen(first_);
    if (others_ == 0 || !seen.is_known) std::rethrow_exception(first_);
    fail(seen.code,
         {seen.is_error ? without_code(seen.what) : seen.what, "; ", others_,
          others_ == 1 ? " more error: " : " more errors: ", listed_, others_ > most_listed ? "; and so on" : ""});
  }

  const run_guard guard_;
  atomic<bool> stopped_{false};
  atomic<bool> told_{false};
  mutex mutex_;
  stop_hook* hooks_ = nullptr;
  std::exception_ptr first_;
  std::string listed_;
  int others_ = 0;
};

}  // namespace tagma::runtime
