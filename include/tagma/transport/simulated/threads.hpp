// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Threads of processes that are simulated, of which one goes on at a time, while the world waits for it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/runtime/turns.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/simulated/fiber.hpp"

namespace tagma::transport::simulated {

/// What threads need of their world. Times are nanoseconds of its clock.
class stage {
 public:
  [[nodiscard]] virtual std::int64_t time() const = 0;
  virtual void plan(std::int64_t when, std::function<void()> what) = 0;
  /// How long a thread that can go on has to wait for that.
  [[nodiscard]] virtual std::int64_t draw_turn() = 0;
  /// In [0, bound), bound above 0.
  [[nodiscard]] virtual std::uint64_t draw_below(std::uint64_t bound) = 0;
  /// Whether a thread lets others go first where it could.
  [[nodiscard]] virtual bool draw_pass() = 0;
  /// Thread number `n` goes on.
  virtual void goes_on(std::uint64_t n) = 0;

 protected:
  ~stage() = default;
};

/// The threads of a world. A thread goes on until it waits or ends; that is one thing that happens in the world. Which
/// of several goes on first is drawn, as is when.
class threads {
 public:
  explicit threads(stage& on);
  threads(const threads&) = delete;
  threads& operator=(const threads&) = delete;
  /// Those that have not ended never go on.
  ~threads() = default;

  /// @param stopped_until until when the process does nothing; lives as long as this
  void start(runtime::turns& home, const std::int64_t& stopped_until, std::function<void()> what);
  /// As of `runtime::turns`, by a thread of the world. Throws Internal for a handler, which may not wait.
  /// @param end_ns on the clock of the world
  void sleep(const runtime::wait_word& at, std::int64_t end_ns);
  void wake(const runtime::wait_word& at, int count);
  void pass();

  /// Whether one of them is who calls.
  [[nodiscard]] bool in_one() const { return current_ != nullptr; }
  [[nodiscard]] std::size_t alive() const { return all_.size(); }

 private:
  struct thread {
    runtime::turns* home = nullptr;
    const std::int64_t* stopped_until = nullptr;
    std::uint64_t number = 0;
    std::unique_ptr<fiber> body{};
    const runtime::wait_word* at = nullptr;  // where it sleeps, until it is woken
    std::uint64_t turn = 0;                  // how often it has waited
    bool waits = true;
  };

  void plan(const std::shared_ptr<thread>& t, std::int64_t when);
  void go_on(const std::shared_ptr<thread>& t);
  [[nodiscard]] std::shared_ptr<thread> current() const;

  stage& stage_;
  std::vector<std::shared_ptr<thread>> all_;  // that have not ended
  thread* current_ = nullptr;
  std::uint64_t started_ = 0;
};

/// While it lives, this thread acts for a process.
class at_home {
 public:
  explicit at_home(runtime::turns& of) : before_(runtime::turns_here) { runtime::turns_here = &of; }
  at_home(const at_home&) = delete;
  at_home& operator=(const at_home&) = delete;
  ~at_home() { runtime::turns_here = before_; }

 private:
  runtime::turns* before_;
};

}  // namespace tagma::transport::simulated

#ifndef TAGMA_COMPILED
#include "tagma/transport/simulated/threads.ipp"
#endif
