// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One connection to a worker: what comes in goes to the worker, answers go back.

#include <cstdint>
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
  void writable(transport::link&) override { room_.notify_all(); }
  void closed(transport::link&) override { end(); }
  void lost(transport::link&, const error&) override { end(); }

  /// Answers a call, from a thread that may wait.
  void reply(std::uint64_t request, std::string body, std::shared_ptr<const std::string> bulk = {});
  void refuse(std::uint64_t request, const error& why);
  /// Ends the connection, also one that has yet to come about.
  void abort(const error& why);
  /// As it is now, if it is open.
  [[nodiscard]] std::optional<server_status::connection> seen(std::int64_t now_ns);
  /// The graph of a client that speaks through this connection. False if it is over.
  bool owns(std::uint64_t graph, registered_part& part);

 private:
  void answer(const std::function<transport::send_result(transport::link&)>& send);
  void end();

  inlet_calls worker_;
  std::mutex mutex_;
  condition room_;
  transport::link* link_ = nullptr;  // nullptr: it is over
  std::optional<error> aborted_;
  std::set<std::uint64_t> graphs_;
};

namespace detail {

/// What was thrown, as an error with a code.
error caught_error();

}  // namespace detail

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/inlet_handler.ipp"
#endif
