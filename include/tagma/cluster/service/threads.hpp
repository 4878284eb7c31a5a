// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What services start and wait with: threads of the system, or those of a world that is simulated, where this thread
/// is one of them.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "tagma/base/config.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::service {

/// As std::condition_variable.
class condition {
 public:
  void wait(std::unique_lock<std::mutex>& lock) { wait_until(lock, runtime::wait_word::never); }
  /// For so many nanoseconds at most.
  void wait_for(std::unique_lock<std::mutex>& lock, std::int64_t ns) { wait_until(lock, runtime::now_ns() + ns); }
  void notify_one() { changes_.change(false); }
  void notify_all() { changes_.change(true); }

 private:
  void wait_until(std::unique_lock<std::mutex>& lock, std::int64_t end_ns);

  runtime::wait_word changes_;
};

/// As std::thread.
class thread {
 public:
  explicit thread(std::function<void()> what);
  void join();

 private:
  struct state;

  std::shared_ptr<state> state_;
  std::thread real_;
};

/// A number that is drawn, and that nobody else has.
[[nodiscard]] std::uint64_t draw_number();

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/threads.ipp"
#endif
