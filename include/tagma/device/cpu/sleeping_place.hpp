// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where a thread sleeps, so that whoever wakes it can have it woken elsewhere.

#include <pthread.h>
#include <sched.h>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"

namespace tagma::device::cpu {

/// Of one thread. Linux wakes a thread where it slept or where the one runs that wakes it, if it does not expect
/// another processor to be idle, as on virtual machines, where one that has halted looks taken. Two threads that share
/// their work on two processors then wait for each other on one, and stay there as long as one of them sleeps in
/// between: who does so is not moved.
class sleeping_place {
 public:
  /// By the thread, before it sleeps and when it was woken.
  /// @{
  void enter();
  void leave();
  /// @}

  /// By who wakes it, one thread at a time: if it sleeps, it is woken on another processor of those that it may use
  /// than that of the thread that calls, and may use all again then.
  /// @param who whose place it is
  /// @returns whether it slept, and has another one
  bool keep_off_caller(pthread_t who);

 private:
  enum : int { awake, asleep, restricted };
  atomic<int> state_{awake};
#if defined(__linux__)
  cpu_set_t allowed_{};  // before it was restricted: of who wakes until then, of the thread from then on
#endif
};

}  // namespace tagma::device::cpu

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/sleeping_place.ipp"
#endif
