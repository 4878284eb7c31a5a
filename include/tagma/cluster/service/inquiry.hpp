// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Questions to several servers at a time, for whoever looks into a cluster: one that is not there is one answer less.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::service {

/// A call to a server.
struct inquiry_question {
  placed_task whom;  ///< task -1: whoever is at the address
  message kind = message::status;
  std::string body{};
};

/// What came of it.
struct inquiry_answer {
  std::optional<error> problem;  ///< set if there is no answer, or an error is the answer
  std::string body;
  std::vector<std::byte> bulk;

  [[nodiscard]] std::string_view bulk_text() const { return {reinterpret_cast<const char*>(bulk.data()), bulk.size()}; }
};

namespace detail {

/// Calls whose ends one thread waits for.
class open_questions {
 public:
  class one final : public transport::call {
   public:
    one(open_questions& of, inquiry_answer& to) : of_(of), to_(to) {}
    void replied(transport::incoming& reply) noexcept override {
      try {
        to_.body = std::string(reply.body);
        to_.bulk = std::move(reply.buffer);
      } catch (const std::exception& e) {
        to_.problem.emplace(status_code::internal, e.what());
      }
      of_.come();
    }
    void failed(const error& why) noexcept override {
      to_.problem.emplace(why);
      of_.come();
    }

   private:
    open_questions& of_;
    inquiry_answer& to_;
  };

  explicit open_questions(std::size_t count) : open_(count) {}
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (open_ != 0) changed_.wait(lock);
  }

 private:
  void come() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --open_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  condition changed_;
  std::size_t open_;
};

}  // namespace detail

/// For one thread. Connections are made when somebody is asked, and kept until the end.
class inquiry {
 public:
  /// @param by outlives it
  /// @param how who asks, and the secret
  /// @param within_ns how long each question may take, connecting included
  inquiry(transport::network& by, transport::options how, std::int64_t within_ns)
      : network_(by), how_(std::move(how)), within_ns_(within_ns) {}
  inquiry(const inquiry&) = delete;
  inquiry& operator=(const inquiry&) = delete;
  ~inquiry();

  /// Asks all of them at once, and waits for what becomes of each; answers are in the order of the questions.
  [[nodiscard]] std::vector<inquiry_answer> ask(const std::vector<inquiry_question>& questions);
  /// One alone. Throws what is wrong.
  [[nodiscard]] inquiry_answer ask(const inquiry_question& question);

 private:
  transport::network& network_;
  transport::options how_;
  std::int64_t within_ns_;
  std::map<std::string, std::shared_ptr<outlet>> outlets_;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/inquiry.ipp"
#endif
