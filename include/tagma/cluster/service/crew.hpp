// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Threads that wait for runs, so that those of the network do not.

#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/threads.hpp"

namespace tagma::service {

/// A thread for each function that is under way, up to a number; those that are idle sleep.
class crew {
 public:
  explicit crew(std::size_t most) : most_(most) {}
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  /// Waits until all is done that was given.
  ~crew() { finish(); }

  /// Does it soon, on some thread. It throws nothing.
  /// @returns false if it is not taken, since the crew has finished
  [[nodiscard]] bool add(std::function<void()> what);
  /// Waits until all is done, and takes nothing more.
  void finish();

 private:
  void work();

  std::size_t most_;
  mutex mutex_;
  condition wakes_;
  std::deque<std::function<void()>> waiting_;
  std::vector<thread> threads_;
  std::size_t idle_ = 0;
  bool ends_ = false;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/crew.ipp"
#endif
