// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A call that is made again when its connection is lost, for what the other process does once however often it is
/// asked.

#include <cstdint>
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
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::service {

/// How long who lost a connection waits before it asks again: so many nanoseconds, then twice as many each time.
/// @{
inline constexpr std::int64_t first_wait_ns = 10'000'000;
inline constexpr std::int64_t longest_wait_ns = 1'000'000'000;
/// @}

/// Lives until it has ended.
class repeated_call final : public transport::call {
 public:
  /// Called once, by the thread of the network or by who starts the call: nullptr if it was answered.
  using ending = std::function<void(const error* why)>;

  /// @param by,to outlive the call
  /// @param again_ns how long it is asked again after the first loss
  repeated_call(transport::network& by, outlet& to, message kind, std::string body,
                std::shared_ptr<const std::string> bulk, std::int64_t timeout_ns, std::int64_t again_ns, ending on_end);

  void start() { ask(); }
  /// It is not made again, nor sent if it was not yet. By one thread, once.
  /// @param why how it ends then, if that is a limit; else it is Cancelled
  void give_up(const error& why);
  /// Behind `give_up`: it ends soon, whether or not there is an answer.
  void leave();
  /// How often it was made.
  [[nodiscard]] int attempts() const { return attempts_; }
  /// Whether the last attempt had no answer, so that nobody knows what the other process has done. With `attempts`, and
  /// the answer, once it has ended.
  [[nodiscard]] bool lost() const { return lost_; }

  /// The answer, where there is one.
  /// @{
  [[nodiscard]] const std::string& body() const { return answer_; }
  [[nodiscard]] const std::vector<std::byte>& bulk() const { return elements_; }
  /// @}

  void replied(transport::incoming& reply) noexcept override;
  void failed(const error& why) noexcept override;

 private:
  void ask();
  void end(const error* why) noexcept;
  /// As it was given up.
  /// @param last what is known otherwise
  void end_given_up(const error& last) noexcept;
  /// Has it asked again after a while.
  void pause() noexcept;

  transport::network& network_;
  outlet& to_;
  message kind_;
  std::string body_;
  std::shared_ptr<const std::string> bulk_;
  std::int64_t until_, again_ns_, again_until_ = 0, wait_ns_ = first_wait_ns;
  ending on_end_;
  const std::shared_ptr<asked_call> as_ = std::make_shared<asked_call>();
  std::mutex mutex_;
  std::optional<error> limit_;           // why it was given up
  std::shared_ptr<atomic<bool>> pause_;  // before it is asked again: who takes the value away goes on with the call
  bool left_ = false;
  int attempts_ = 0;
  bool lost_ = false;
  std::string answer_;
  std::vector<std::byte> elements_;
};

namespace detail {

/// A client says that it has come back. One who has not come back is not asked for it again before a connection has
/// come about, so that nobody looks for ever for a server that is gone.
class returning final : public transport::call {
 public:
  /// How long to wait before it is said; nothing if it is said already. Who loses one connection after the other before
  /// there is an answer waits ever longer.
  /// @param was_up whether the connection that was lost had come about
  [[nodiscard]] std::optional<std::int64_t> begin(bool was_up);
  void replied(transport::incoming&) noexcept override { asked_ = false, wait_ns_ = first_wait_ns; }
  void failed(const error&) noexcept override {}

 private:
  bool asked_ = false;  // of the thread of the network, as all of it
  std::int64_t wait_ns_ = first_wait_ns;
};

}  // namespace detail

/// The way of a client to a server that has a graph of its: a connection that is lost is made again at once, so that
/// the graph stays.
[[nodiscard]] std::shared_ptr<outlet> outlet_of_client(transport::network& by, std::string address,
                                                       transport::options how, const task_id& who,
                                                       std::int64_t within_ns, std::uint64_t graph);

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/repeated_call.ipp"
#endif
