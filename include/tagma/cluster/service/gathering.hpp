// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Waits for the answers of several tasks, of which one that fails may end the others.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/service/asked_call.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::service {

/// What ends a wait early, and who is told that it lasts.
struct wait_limits {
  /// @param of outlives it
  explicit wait_limits(const run_limits& of = runtime::no_limits)
      : given(of),
        guard(of),
        end_ns(of.timeout_ns > 0 ? runtime::later(runtime::now_ns(), of.timeout_ns) : runtime::wait_word::never) {}

  const run_limits& given;
  runtime::run_guard guard;
  std::int64_t end_ns;
  std::int64_t tell_after_ns = 0;                      ///< then again when it lasts twice as long; 0: nobody is told
  std::function<void(std::int64_t lasted_ns)> tell{};  ///< by the thread that waits
};

/// How long who has come to a limit waits for what others say to that, in nanoseconds.
inline constexpr std::int64_t farewell_ns = 1'000'000'000;

/// One thread waits, any others bring answers.
class gathering {
 public:
  void expect() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++open_;
  }
  void come(const error* why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    --open_;
    // Of a wait that ends at its limits, those tell most that have ended for that.
    if (why != nullptr &&
        (!first_.has_value() || (over_.has_value() && why->code() == over_->code() && first_->code() != over_->code())))
      first_.emplace(*why);
    changed_.notify_all();
  }
  /// Returns when all answers have come; throws the first error. Calls `give_up` once with why, as soon as an answer is
  /// an error or there is a reason to stop; the other answers are waited for none the less.
  template <class GiveUp>
  void wait(const GiveUp& give_up, const wait_limits& limits = wait_limits()) {
    wait(
        give_up, [] {}, limits);
  }
  /// ... but not for ever: so long behind the limits, calls `leave` once, which ends what there is of questions.
  template <class GiveUp, class Leave>
  void wait(const GiveUp& give_up, const Leave& leave, const wait_limits& limits) {
    constexpr std::int64_t never = runtime::wait_word::never;
    const std::int64_t began = runtime::now_ns();
    std::int64_t next = limits.tell_after_ns > 0 ? runtime::later(began, limits.tell_after_ns) : never;
    std::unique_lock<std::mutex> lock(mutex_);
    std::int64_t leave_at = never;
    for (bool given_up = false, left = false; open_ != 0;) {
      if (left) {
        changed_.wait(lock);
        continue;
      }
      const status_code reason = limits.guard.over();
      if (given_up && reason != status_code::ok) {
        const std::int64_t now = runtime::now_ns();
        leave_at = std::min(leave_at, now + farewell_ns);
        left = now >= leave_at;
        left ? unlocked(lock, leave) : changed_.wait_for(lock, leave_at - now);
        continue;
      }
      if (!given_up && (first_.has_value() || reason != status_code::ok)) {
        given_up = true;
        const bool by_answer = first_.has_value();
        const error why = by_answer ? *first_ : reason_of(limits.guard, reason);
        if (!by_answer) over_.emplace(why);
        unlocked(lock, [&] { give_up(why); });
        continue;
      }
      const std::int64_t now = runtime::now_ns();
      if (now >= next && !given_up) {
        next = now + (now - began);
        unlocked(lock, [&] { limits.tell(now - began); });
        continue;
      }
      run_limits slice;
      slice.stop = limits.given.stop;
      if (const std::int64_t end = given_up ? limits.end_ns : std::min(next, limits.end_ns); end != never)
        slice.timeout_ns = std::max<std::int64_t>(end - now, 1);
      changed_.wait(lock, runtime::run_guard(slice));
    }
    if (!first_.has_value()) return;
    // Questions that were given up are cancelled, whatever the reason was.
    const bool given_up_only =
        over_.has_value() && over_->code() != status_code::cancelled && first_->code() == status_code::cancelled;
    throw error(given_up_only ? *over_ : *first_);
  }

 private:
  template <class What>
  static void unlocked(std::unique_lock<std::mutex>& lock, const What& what) {
    lock.unlock();
    what();
    lock.lock();
  }
  static error reason_of(const runtime::run_guard& limits, status_code reason) {
    try {
      limits.explain(reason);
    } catch (const error& e) {
      return e;
    }
  }

  std::mutex mutex_;
  condition changed_;
  std::size_t open_ = 0;
  std::optional<error> first_;
  std::optional<error> over_;  // the limit that has ended the wait
};

/// A question to one task.
class question final : public transport::call {
 public:
  /// @param who begins the sentences of errors
  question(gathering& of, std::string who) : of_(of), who_(std::move(who)) { of_.expect(); }

  void replied(transport::incoming& reply) noexcept override {
    try {
      body = std::string(reply.body);
      bulk = std::move(reply.buffer);
      answered.store(true, memory_order::release);
      of_.come(nullptr);
    } catch (const std::exception& e) {
      const error why(status_code::internal, e.what());
      of_.come(&why);
    }
  }
  void failed(const error& why) noexcept override {
    const error named(why.code(), sentence({who_, ": ", runtime::without_code(why.what())}));
    of_.come(&named);
  }

  [[nodiscard]] std::string_view bulk_text() const { return {reinterpret_cast<const char*>(bulk.data()), bulk.size()}; }

  atomic<bool> answered{false};
  const std::shared_ptr<asked_call> as = std::make_shared<asked_call>();  ///< for the outlet
  std::string body;
  std::vector<std::byte> bulk;

 private:
  gathering& of_;
  std::string who_;
};

}  // namespace tagma::service
