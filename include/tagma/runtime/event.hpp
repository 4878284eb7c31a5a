// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Something that happens, for which threads wait asleep.

#include "tagma/base/atomic.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

/// It has not happened at first. Whoever makes it happen may still be in `set` when others have seen it.
class event {
 public:
  [[nodiscard]] bool happened() const { return happened_.load(memory_order::acquire); }
  void set();
  /// It may happen once more; nobody waits for it.
  void clear() { happened_.store(false, memory_order::relaxed); }

  void wait();
  /// False if the limits end the waiting before.
  [[nodiscard]] bool wait(const run_guard& guard);

 private:
  atomic<bool> happened_{false};
  wait_word changes_;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/event.ipp"
#endif
