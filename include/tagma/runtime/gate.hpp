// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The gate that lets runs that only read variables pass together, and runs that update them one at a time.

#include "tagma/base/config.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/run_limits.hpp"

namespace tagma::runtime {

/// Many readers or one writer. Waiting writers go first, so that readers cannot starve them. Where nobody waits, to
/// pass and to leave are one atomic operation each.
class gate {
 public:
  /// Waits until the caller may pass. Throws if the limits of its run end the wait.
  void enter(bool exclusive, const run_guard& guard);
  void leave(bool exclusive);

 private:
  // The state: how many readers are inside, whether a writer is, and whether somebody waits.
  static constexpr std::uint32_t writer = 1u << 31, waited_for = 1u << 30;

  /// Goes in if nobody is in the way; false if somebody is.
  /// @param known of `waited_for`, what stops nobody: those who wait know of one another
  [[nodiscard]] bool pass(bool exclusive, std::uint32_t known);

  void wait(bool exclusive, const run_guard& guard);
  void begin_wait(bool exclusive);
  /// Others may go in now that would not before: readers behind a writer that waited.
  void end_wait(bool exclusive);
  [[noreturn]] void give_up(bool exclusive, const run_guard& guard, status_code reason);

  atomic<std::uint32_t> state_{0};
  mutex mutex_;  // of what follows
  wait_word changed_;
  int waiting_ = 0;
  int writers_ = 0;  // of those who wait
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/gate.ipp"
#endif
