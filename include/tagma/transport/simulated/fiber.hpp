// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Functions that stop in their middle and go on there: what threads of a simulated process are. With the GNU C library
/// these are stacks that one thread changes between, which costs a hundredth of a change of threads. Elsewhere, and
/// where a sanitizer has to know whose stack it is, they are real threads of which one goes on at a time.

#include <functional>
#include <memory>

#include "tagma/base/config.hpp"

namespace tagma::transport::simulated {

/// All calls are made by one thread, that of the world.
class fiber {
 public:
  /// Does nothing yet.
  explicit fiber(std::function<void()> what);
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  /// One that has not ended never goes on; what it has on its stack stays.
  ~fiber();

  /// Returns when it stays or ends.
  void go_on();
  /// Called by what runs in it: returns when it goes on.
  void stay();
  [[nodiscard]] bool has_ended() const;

 private:
  struct state;

  std::shared_ptr<state> state_;
};

}  // namespace tagma::transport::simulated

#ifndef TAGMA_COMPILED
#include "tagma/transport/simulated/fiber.ipp"
#endif
