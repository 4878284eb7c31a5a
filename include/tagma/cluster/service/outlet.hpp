// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The way to another process: a link that is made when there is something to say, and made again when it was lost.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/service/asked_call.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::service {

namespace detail {

/// Bulk that lives until it is sent.
class kept_bulk final : public transport::send_attempt {
 public:
  explicit kept_bulk(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {}
  void ended(std::exception_ptr) noexcept override { delete this; }

 private:
  std::shared_ptr<const std::string> bytes_;
};

/// Makes these bytes the bulk of a message; they live until the link needs them no more, whatever becomes of a call.
inline void keep_bulk(transport::outgoing& m, std::shared_ptr<const std::string> bytes) {
  if (bytes->empty()) return;
  m.bulk = {reinterpret_cast<const std::byte*>(bytes->data()), bytes->size()};
  m.attempt = new kept_bulk(std::move(bytes));
}

}  // namespace detail

/// Called when a process is lost, with why.
using loss = std::function<void(const error& why)>;

/// For several threads. What is said before the process is there waits for it.
class outlet final : public transport::handler, public std::enable_shared_from_this<outlet> {
 public:
  /// @param who the process must say that it is
  /// @param within_ns how long it is waited for
  outlet(transport::network& by, std::string address, transport::options how, const task_id& who,
         std::int64_t within_ns, loss on_loss);

  /// Sends a message. Its attempt is told whatever becomes of it.
  void post(transport::outgoing m);
  /// Asks; the call ends whatever becomes of it: with Unavailable if the process is not there within the time that it
  /// is waited for, with DeadlineExceeded if its own, which is shorter, is over before.
  /// @param as nullptr: it is wanted for ever
  void ask(transport::outgoing m, std::int64_t timeout_ns, transport::call& with,
           std::shared_ptr<asked_call> as = nullptr);
  /// Ends calls that are not wanted any more and were not sent yet, with Cancelled.
  void drop_unwanted();
  /// The link, if the process is there.
  [[nodiscard]] std::shared_ptr<transport::link> current();
  /// Who is there, if the process is; `link::peer` may know it a moment later.
  [[nodiscard]] std::optional<transport::identity> peer();
  /// For `loss`, by the thread of the network: whether the link that was lost had come about.
  [[nodiscard]] bool was_up() const { return was_up_; }
  /// Ends the link, and connects no more.
  void close();

  void connected(transport::link& with) override;
  void received(transport::link&, transport::incoming&) override {}
  void writable(transport::link& with) override;
  void closed(transport::link& with) override;
  void lost(transport::link& with, const error& why) override;

 private:
  struct item {
    transport::outgoing what;
    transport::call* with = nullptr;  // nullptr: no call
    std::shared_ptr<asked_call> as{};
    std::int64_t deadline_ns = INT64_MAX;
    bool is_short = false;  // waits for less than the process is waited for

    [[nodiscard]] bool is_wanted() const { return as == nullptr || as->is_wanted(); }
  };

  void add(item one, std::int64_t timeout_ns);
  void drop_late();
  [[nodiscard]] std::deque<item> taken(bool (*which)(const item&, std::int64_t now));
  [[nodiscard]] error late(const item& one) const;
  void flush();
  void over(const transport::link& of, const error& why, bool tell);
  static void give_up(item& one, const error& why);

  transport::network& network_;
  std::string address_;
  transport::options how_;
  std::int64_t within_ns_;
  loss on_loss_;
  mutex mutex_;
  std::shared_ptr<transport::link> link_;
  transport::identity peer_{};
  bool up_ = false, flushing_ = false, closed_ = false, room_came_ = false;
  bool was_up_ = false;  // of the thread of the network
  std::deque<item> waiting_;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/outlet.ipp"
#endif
