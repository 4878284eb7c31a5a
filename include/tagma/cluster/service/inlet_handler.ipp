// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of inlet_handler.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/inlet_handler.hpp"
#include "tagma/runtime/caught.hpp"
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

TAGMA_COLD TAGMA_DECL error without_line(const error& of) {
  const std::string_view text = runtime::without_code(of.what());
  const std::size_t line = text.rfind(" (run at ");
  return line == text.npos || !text.ends_with(')') ? of : error(of.code(), text.substr(0, line));
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
    kept_.clear();
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

TAGMA_DECL inlet_handler::answer inlet_handler::reply_of(std::uint64_t request, std::string body,
                                                         std::shared_ptr<const std::string> bulk) {
  return [request, body = std::move(body), bulk = std::move(bulk)](transport::link& to) {
    transport::outgoing m;
    m.body = body;
    if (bulk != nullptr) detail::keep_bulk(m, bulk);
    transport::send_attempt* const kept = m.attempt;
    const transport::send_result sent = to.reply(request, std::move(m));
    if (!sent && kept != nullptr) kept->ended(nullptr);
    return sent;
  };
}

TAGMA_DECL inlet_handler::answer inlet_handler::refusal_of(std::uint64_t request, const error& why) {
  return [request, why](transport::link& to) { return to.fail(request, why); };
}

TAGMA_DECL void inlet_handler::send(const answer& a) {
  pass();
  std::unique_lock<std::mutex> lock(mutex_);
  while (link_ != nullptr && a(*link_).status == transport::send_status::full) {
    if (runtime::now_ns() >= waits_until_)
      return link_->abort(error(status_code::resource_exhausted, "the client does not take its answers"));
    room_.wait_for(lock, 50'000'000);
  }
}

TAGMA_DECL void inlet_handler::post(answer a) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (link_ == nullptr) return;
  if (a(*link_).status != transport::send_status::full) return;
  if (kept_.size() < most_kept) return kept_.push_back(std::move(a));
  link_->abort(error(status_code::resource_exhausted, "the client does not take its answers"));
}

TAGMA_DECL void inlet_handler::writable(transport::link& with) {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!kept_.empty() && kept_.front()(with).status != transport::send_status::full) kept_.pop_front();
  if (closes_ && kept_.empty()) with.close();
  room_.notify_all();
}

TAGMA_DECL void inlet_handler::reply(std::uint64_t request, std::string body, std::shared_ptr<const std::string> bulk) {
  send(reply_of(request, std::move(body), std::move(bulk)));
}

TAGMA_DECL void inlet_handler::refuse(std::uint64_t request, const error& why) { send(refusal_of(request, why)); }

TAGMA_DECL void inlet_handler::post_reply(std::uint64_t request, std::string body,
                                          std::shared_ptr<const std::string> bulk) {
  post(reply_of(request, std::move(body), std::move(bulk)));
}

TAGMA_DECL void inlet_handler::post_refusal(std::uint64_t request, const error& why) { post(refusal_of(request, why)); }

TAGMA_DECL void inlet_handler::hurry(std::int64_t ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waits_until_ = runtime::now_ns() + ns;
}

TAGMA_DECL void inlet_handler::close(const error& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  closes_ = true;
  if (link_ == nullptr) aborted_ = why;
  if (link_ != nullptr && kept_.empty()) link_->close();
}

TAGMA_DECL void inlet_handler::finish(std::int64_t until_ns, const error& why) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (link_ != nullptr) {
    const std::int64_t left = until_ns - runtime::now_ns();
    if (left <= 0) return link_->abort(why);
    room_.wait_for(lock, left);
  }
}

}  // namespace tagma::service
