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
  void begin(bool reset = false) noexcept;

  /// Throws Cancelled, or Aborted if it was a reset.
  /// @param purpose what the error begins with
  [[noreturn]] void refuse(std::string_view purpose) const;
  /// The same for a run that was under way.
  [[noreturn]] void stop_run() const;

  /// While it lives, `begin` changes a word. What begun before is to be looked for behind it.
  class sleeper {
   public:
    sleeper(closing& of, wait_word& word);
    sleeper(const sleeper&) = delete;
    sleeper& operator=(const sleeper&) = delete;
    ~sleeper();

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

#ifndef TAGMA_COMPILED
#include "tagma/runtime/closing.ipp"
#endif
