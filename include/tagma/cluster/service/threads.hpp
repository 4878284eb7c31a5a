// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What services start and wait with: threads of the system, or those of a world that is simulated, where this thread
/// is one of them.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tagma/base/config.hpp"
#include "tagma/runtime/event.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/runtime/turns.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::service {

/// A place where others may go on before this thread does, if it is simulated. It holds no lock there that handlers
/// take.
inline void pass() {
  if (runtime::turns_here != nullptr) runtime::turns_here->pass();
}

/// As std::mutex; who waits for something holds none.
class mutex {
 public:
  void lock() {
    pass();
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// As std::condition_variable_any.
class condition {
 public:
  template <class Lock>
  void wait(Lock& lock) {
    wait_until(lock, runtime::wait_word::never);
  }
  /// For so many nanoseconds at most.
  template <class Lock>
  void wait_for(Lock& lock, std::int64_t ns) {
    wait_until(lock, runtime::later(runtime::now_ns(), ns));
  }
  /// Until there may be a reason to stop.
  template <class Lock>
  void wait(Lock& lock, const runtime::run_guard& limits) {
    const std::uint32_t seen = changes_.load(memory_order::acquire);
    lock.unlock();
    limits.wait(changes_, seen);
    lock.lock();
  }
  void notify_one() { changes_.change(false); }
  void notify_all() { changes_.change(true); }

 private:
  template <class Lock>
  void wait_until(Lock& lock, std::int64_t end_ns) {
    const std::uint32_t seen = changes_.load(memory_order::acquire);
    lock.unlock();
    changes_.sleep_until(seen, end_ns);
    lock.lock();
  }

  runtime::wait_word changes_;
};

/// As std::thread.
class thread {
 public:
  explicit thread(std::function<void()> what);
  void join();

 private:
  struct state {
    std::function<void()> what;
    runtime::event ended{};

    void run();
  };

  std::shared_ptr<state> state_;
  std::thread real_;
};

/// Sleeps for so many nanoseconds.
void pause_for(std::int64_t ns);
/// ... or until there may be a reason to stop.
void pause_for(std::int64_t ns, const run_limits& limits);

/// Writes a line to standard error: what is told to nobody else.
void print_line(const std::string& text);

/// A number that is drawn, and that nobody else has.
[[nodiscard]] std::uint64_t draw_number();

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/threads.ipp"
#endif
