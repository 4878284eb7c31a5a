// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tells the runs of a session that it closes.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

/// The end of a session. Runs look at it as at a token; those that sleep are woken.
class closing {
 public:
  closing() = default;
  closing(const closing&) = delete;
  closing& operator=(const closing&) = delete;

  [[nodiscard]] bool begun() const noexcept { return begun_.load(memory_order::acquire); }
  /// @param reset that is, the container of the session was
  TAGMA_COLD void begin(bool reset = false) noexcept {
    if (reset && !begun()) reset_.store(true);
    begun_.store(true);
    const mutex_lock lock(mutex_);
    for (sleeper* s = first_; s != nullptr; s = s->next_) s->word_.change(true);
  }

  /// Throws Cancelled, or Aborted if it was a reset.
  /// @param purpose what the error begins with
  [[noreturn]] TAGMA_COLD void refuse(std::string_view purpose) const {
    if (reset_.load()) fail(status_code::aborted, {purpose, "the container of the session was reset"});
    fail(status_code::cancelled, {purpose, "Session has been closed."});
  }
  /// The same for a run that was under way.
  [[noreturn]] TAGMA_COLD void stop_run() const {
    if (reset_.load())
      fail(status_code::aborted, "the run was cancelled, since the container of its session was reset");
    fail(status_code::cancelled, "the run was cancelled, since its session was closed");
  }

  /// While it lives, `begin` changes a word. What begun before is to be looked for behind it.
  class sleeper {
   public:
    TAGMA_COLD sleeper(closing& of, wait_word& word) : closing_(of), word_(word) {
      const mutex_lock lock(of.mutex_);
      next_ = of.first_;
      if (next_ != nullptr) next_->before_ = this;
      of.first_ = this;
    }
    sleeper(const sleeper&) = delete;
    sleeper& operator=(const sleeper&) = delete;
    TAGMA_COLD ~sleeper() {
      const mutex_lock lock(closing_.mutex_);
      (before_ == nullptr ? closing_.first_ : before_->next_) = next_;
      if (next_ != nullptr) next_->before_ = before_;
    }

   private:
    friend class closing;
    closing& closing_;
    wait_word& word_;
    sleeper* before_ = nullptr;
    sleeper* next_ = nullptr;
  };

 private:
  atomic<bool> begun_{false}, reset_{false};
  mutex mutex_;
  sleeper* first_ = nullptr;
};

}  // namespace tagma::runtime
