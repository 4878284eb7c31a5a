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
#include "tagma/transport/broken.hpp"
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
  std::set<std::uint64_t> graphs_;
};

namespace detail {

/// What was thrown, as an error with a code.
TAGMA_COLD inline error caught_error() {
  try {
    throw;
  } catch (const error& e) {
    return e;
  } catch (const std::exception& e) {
    return error(status_code::internal, e.what());
  }
}

}  // namespace detail

inline void inlet_handler::abort(const error& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (link_ != nullptr) link_->abort(why);
}

inline void inlet_handler::connected(transport::link& with) {
  const std::lock_guard<std::mutex> lock(mutex_);
  link_ = &with;
}

inline void inlet_handler::end() {
  std::set<std::uint64_t> graphs;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    link_ = nullptr;
    graphs.swap(graphs_);
    room_.notify_all();
  }
  if (TAGMA_BROKEN(graphs_stay)) return;
  for (const std::uint64_t g : graphs) worker_.lapse(g, this);
}

inline bool inlet_handler::owns(std::uint64_t graph, registered_part& part) {
  pass();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (link_ == nullptr) return false;
  part.owned_by(this);
  graphs_.insert(graph);
  return true;
}

inline void inlet_handler::answer(const std::function<transport::send_result(transport::link&)>& send) {
  pass();
  std::unique_lock<std::mutex> lock(mutex_);
  while (link_ != nullptr && send(*link_).status == transport::send_status::full) room_.wait_for(lock, 50'000'000);
}

inline void inlet_handler::reply(std::uint64_t request, std::string body, std::shared_ptr<const std::string> bulk) {
  answer([&](transport::link& to) {
    transport::outgoing m;
    m.body = body;
    if (bulk != nullptr) detail::keep_bulk(m, bulk);
    transport::send_attempt* const kept = m.attempt;
    const transport::send_result sent = to.reply(request, std::move(m));
    if (!sent && kept != nullptr) kept->ended(nullptr);
    return sent;
  });
}

inline void inlet_handler::refuse(std::uint64_t request, const error& why) {
  answer([&](transport::link& to) { return to.fail(request, why); });
}

}  // namespace tagma::service
