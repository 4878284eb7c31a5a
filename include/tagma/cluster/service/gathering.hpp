// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Waits for the answers of several tasks, of which one that fails may end the others.

#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::service {

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
    if (why != nullptr && !first_.has_value()) first_.emplace(*why);
    changed_.notify_all();
  }
  /// Returns when all answers have come; throws the first error. Calls `give_up` once with why, as soon as an answer is
  /// an error or there is a reason to stop; the other answers are waited for none the less.
  template <class GiveUp>
  void wait(const GiveUp& give_up, const runtime::run_guard& limits = runtime::run_guard(runtime::no_limits)) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (bool told = false; open_ != 0;) {
      if (told) {
        changed_.wait(lock);
        continue;
      }
      const status_code reason = limits.over();
      told = first_.has_value() || reason != status_code::ok;
      if (!told) {
        changed_.wait(lock, limits);
        continue;
      }
      const error why = first_.has_value() ? *first_ : reason_of(limits, reason);
      lock.unlock();
      give_up(why);
      lock.lock();
    }
    if (first_.has_value()) throw error(*first_);
  }

 private:
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

  std::string body;
  std::vector<std::byte> bulk;

 private:
  gathering& of_;
  std::string who_;
};

}  // namespace tagma::service
