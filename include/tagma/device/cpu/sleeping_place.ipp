// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of sleeping_place.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/sleeping_place.hpp"

namespace tagma::device::cpu {

#if defined(__linux__)
TAGMA_DECL void sleeping_place::enter() { asleep_.store(true); }

TAGMA_DECL void sleeping_place::leave() {
  asleep_.store(false);
  if (restricted_.load()) {
    sched_setaffinity(0, sizeof allowed_, &allowed_);
    restricted_.store(false);
  }
}

TAGMA_COLD TAGMA_DECL bool sleeping_place::keep_off_caller(pthread_t who) {
  // In this order: a thread that is not restricted any more and sleeps again has read what it was allowed.
  if (restricted_.load() || !asleep_.load()) return false;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE || pthread_getaffinity_np(who, sizeof allowed_, &allowed_) != 0) return false;
  cpu_set_t others = allowed_;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (pthread_setaffinity_np(who, sizeof others, &others) != 0) return false;  // the system refuses an empty set
  restricted_.store(true);
  // Whoever was woken by somebody else meanwhile may not have seen that.
  if (!asleep_.load()) pthread_setaffinity_np(who, sizeof allowed_, &allowed_), restricted_.store(false);
  return true;
}
#else
TAGMA_DECL void sleeping_place::enter() {}
TAGMA_DECL void sleeping_place::leave() {}
TAGMA_DECL bool sleeping_place::keep_off_caller(pthread_t) { return false; }
#endif

}  // namespace tagma::device::cpu
