// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of sleeping_place.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/sleeping_place.hpp"

namespace tagma::device::cpu {

#if defined(__linux__)
TAGMA_COLD TAGMA_DECL void sleeping_place::enter() { state_.store(asleep); }

TAGMA_COLD TAGMA_DECL void sleeping_place::leave() {
  if (state_.exchange(awake) == restricted) sched_setaffinity(0, sizeof allowed_, &allowed_);
}

TAGMA_COLD TAGMA_DECL bool sleeping_place::keep_off_caller(pthread_t who) {
  const int here = sched_getcpu();
  if (state_.load() != asleep || here < 0 || here >= CPU_SETSIZE) return false;
  if (pthread_getaffinity_np(who, sizeof allowed_, &allowed_) != 0) return false;
  cpu_set_t others = allowed_;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (pthread_setaffinity_np(who, sizeof others, &others) != 0) return false;  // the system refuses an empty set
  if (!state_.replace(asleep, restricted))                                     // somebody else has woken it
    pthread_setaffinity_np(who, sizeof allowed_, &allowed_);
  return true;
}
#else
TAGMA_DECL void sleeping_place::enter() {}
TAGMA_DECL void sleeping_place::leave() {}
TAGMA_DECL bool sleeping_place::keep_off_caller(pthread_t) { return false; }
#endif

}  // namespace tagma::device::cpu
