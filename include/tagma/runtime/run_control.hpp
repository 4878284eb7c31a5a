// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the threads of one run share: whether it goes on, what went wrong, and whom to tell that it ends early.

#include <exception>

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
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

/// One run. The first thing that goes wrong stops it: no step begins any more, and those that wait are told. A run that
/// is told to stop when all of it is done already is done.
class run_control {
 public:
  explicit run_control(const run_limits& limits, std::int64_t session_timeout_ns = 0, closing* session = nullptr)
      : guard_(limits, session_timeout_ns, session) {}
  run_control(const run_control&) = delete;
  run_control& operator=(const run_control&) = delete;

  [[nodiscard]] const run_guard& guard() const { return guard_; }
  /// True once the run was told to stop.
  [[nodiscard]] bool stopped() const { return stopped_.load(memory_order::acquire); }
  /// The same; looks at the limits of the run first. As cheap as the clock, and where there are no limits, as two
  /// loads.
  [[nodiscard]] bool ending() noexcept { return stopped() || (guard_.limited() && over_limits()); }
  /// The same, for who leaves something out if it is so: then the run is not done.
  [[nodiscard]] bool stopping() noexcept {
    const bool ends = ending();
    if (ends) leave_out();
    return ends;
  }
  void leave_out() noexcept { left_out_.store(true, memory_order::release); }

  /// From now on `hook.stop()` is called when the run must end early. False if it must already: then nothing is called.
  [[nodiscard]] bool add(stop_hook& hook) noexcept;
  /// True if the run was told to stop and somebody waits who does not know.
  [[nodiscard]] bool must_tell() const { return stopped() && !told_.load(memory_order::acquire); }
  /// Calls the hooks, unless another thread did.
  void tell() noexcept;

  /// A step failed. The first error is that of the run; what an operation says that was told to stop does not count.
  void failed(std::exception_ptr e) noexcept;

  /// What the error of a run says beside its first reason. The first two only if the run is late.
  enum class list : unsigned char { done_last, not_finished, more_errors };
  /// True if the run is late and its error has room for one more step in this list: then `name` is to be called.
  [[nodiscard]] bool wants_name(list l) noexcept;
  /// Names a step by an error whose text begins with it.
  void name(list l, std::exception_ptr error_of_step) noexcept;

  /// Waits until the word is no longer `seen`, or until the limits may have been reached.
  void wait(wait_word& word, std::uint32_t seen) const;

  /// Throws the error of the run if it was told to stop and is not done, with the others that came behind it. All steps
  /// have ended.
  void finish();

 private:
  static constexpr int most_listed = 4;

  bool over_limits() noexcept;

  void note(std::exception_ptr e, bool late_run = false) noexcept;

  struct lists {
    std::string text[3];
    int count[3]{};
    bool late = false;
  };
  [[nodiscard]] static std::size_t index(list l) { return static_cast<std::size_t>(l); }
  [[nodiscard]] bool late() const { return lists_ != nullptr && lists_->late; }
  [[nodiscard]] bool has_room(list l) { return lists_ != nullptr && lists_->count[index(l)]++ < most_listed; }
  void add_if_room(list l, std::string_view entry) noexcept;
  void add(list l, std::string_view entry) noexcept;
  /// The operation that an error is about: "Cancelled: exp #3 on /device:CPU:0 of float32 [2]: not begun".
  [[nodiscard]] static std::string_view named_part(std::string_view what) noexcept;
  [[nodiscard]] std::string steps_text(list l, std::string_view before) const;

  [[noreturn]] void rethrow();

  const run_guard guard_;
  atomic<bool> stopped_{false};
  atomic<bool> told_{false};
  atomic<bool> left_out_{false};
  mutex mutex_;
  stop_hook* hooks_ = nullptr;
  std::exception_ptr first_;
  owned<lists> lists_;  // from the first error on
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/run_control.ipp"
#endif
