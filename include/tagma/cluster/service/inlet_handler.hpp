// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One connection to a worker: what comes in goes to the worker, answers go back.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/cluster/service/registered_part.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::service {

class inlet_handler;

/// What a connection asks of its worker. These are no virtual functions, which g++ compiles in every file that sees
/// them, with all that they reach.
struct inlet_calls {
  std::function<transport::placement(transport::link&, const transport::incoming&)> place;
  std::function<void(const std::shared_ptr<inlet_handler>&, transport::link&, transport::incoming&)> received;
  std::function<void(transport::link&, std::uint32_t transfer, const error& why)> abandoned;
  std::function<void(std::uint64_t graph, const void* connection)> lapse;
};

/// One connection to a worker.
class inlet_handler final : public transport::handler, public std::enable_shared_from_this<inlet_handler> {
 public:
  explicit inlet_handler(inlet_calls worker) : worker_(std::move(worker)) {}

  void connected(transport::link& with) override;
  [[nodiscard]] transport::placement place(transport::link& from, const transport::incoming& m) override {
    return worker_.place(from, m);
  }
  void received(transport::link& from, transport::incoming& m) override {
    worker_.received(shared_from_this(), from, m);
  }
  void abandoned(transport::link& from, std::uint32_t transfer) override {
    worker_.abandoned(from, transfer, error(status_code::unavailable, "a tensor did not come to its end"));
  }
  void writable(transport::link& with) override;
  void closed(transport::link&) override { end(); }
  void lost(transport::link&, const error&) override { end(); }

  /// Answers a call, from a thread that may wait for room.
  /// @{
  void reply(std::uint64_t request, std::string body, std::shared_ptr<const std::string> bulk = {});
  void refuse(std::uint64_t request, const error& why);
  /// @}
  /// Answers a call, from the thread of the network, which makes room and so does not wait for it: what there is no
  /// room for goes when there is some. Who takes no answers loses the connection.
  /// @{
  void post_reply(std::uint64_t request, std::string body, std::shared_ptr<const std::string> bulk = {});
  void post_refusal(std::uint64_t request, const error& why);
  /// @}
  static constexpr std::size_t most_kept = 4096;  ///< answers that there is no room for
  /// Ends the connection, also one that has yet to come about.
  void abort(const error& why);
  /// @name The end of the server
  /// @{
  /// From now on, who answers waits for room for so many nanoseconds at most; then the connection ends.
  void hurry(std::int64_t ns);
  /// Says good-bye behind the answers that were given; one that has yet to come about ends.
  void close(const error& why);
  /// Waits for its end until then, on the clock of condition::wait_for, and ends it.
  void finish(std::int64_t until_ns, const error& why);
  /// @}
  /// As it is now, if it is open.
  [[nodiscard]] std::optional<server_status::connection> seen(std::int64_t now_ns);
  /// The graph of a client that speaks through this connection. False if it is over.
  bool owns(std::uint64_t graph, registered_part& part);

 private:
  using answer = std::function<transport::send_result(transport::link&)>;

  [[nodiscard]] static answer reply_of(std::uint64_t request, std::string body,
                                       std::shared_ptr<const std::string> bulk);
  [[nodiscard]] static answer refusal_of(std::uint64_t request, const error& why);
  void send(const answer& a);
  void post(answer a);
  void end();

  inlet_calls worker_;
  std::mutex mutex_;
  condition room_;
  transport::link* link_ = nullptr;  // nullptr: it is over
  std::optional<error> aborted_;
  std::deque<answer> kept_;                               // these wait for room
  std::int64_t waits_until_ = runtime::wait_word::never;  // for room
  bool closes_ = false;                                   // when none is kept
  std::set<std::uint64_t> graphs_;
};

namespace detail {

/// What was thrown, as an error with a code.
error caught_error();
/// Without the line of a run, which is one of the server's: who asked for the run adds the line of the call.
error without_line(const error& of);

}  // namespace detail

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/inlet_handler.ipp"
#endif
