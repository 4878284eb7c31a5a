// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of inlet_handler.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/inlet_handler.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

namespace detail {

TAGMA_COLD TAGMA_DECL error caught_error() {
  try {
    throw;
  } catch (const error& e) {
    return e;
  } catch (const std::exception& e) {
    return error(status_code::internal, e.what());
  }
}

}  // namespace detail

TAGMA_DECL void inlet_handler::abort(const error& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  aborted_ = why;
  if (link_ != nullptr) link_->abort(why);
}

TAGMA_DECL void inlet_handler::connected(transport::link& with) {
  const std::lock_guard<std::mutex> lock(mutex_);
  link_ = &with;
  if (aborted_) link_->abort(*aborted_);
}

TAGMA_DECL void inlet_handler::end() {
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

TAGMA_DECL bool inlet_handler::owns(std::uint64_t graph, registered_part& part) {
  pass();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (link_ == nullptr) return false;
  part.owned_by(this);
  graphs_.insert(graph);
  return true;
}

TAGMA_DECL void inlet_handler::answer(const std::function<transport::send_result(transport::link&)>& send) {
  pass();
  std::unique_lock<std::mutex> lock(mutex_);
  while (link_ != nullptr && send(*link_).status == transport::send_status::full) room_.wait_for(lock, 50'000'000);
}

TAGMA_DECL void inlet_handler::reply(std::uint64_t request, std::string body, std::shared_ptr<const std::string> bulk) {
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

TAGMA_DECL void inlet_handler::refuse(std::uint64_t request, const error& why) {
  answer([&](transport::link& to) { return to.fail(request, why); });
}

}  // namespace tagma::service
