// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of repeated_call.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <optional>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/repeated_call.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

namespace detail {

TAGMA_DECL std::optional<std::int64_t> returning::begin(bool was_up) {
  if (!std::exchange(asked_, true)) return 0;
  if (!was_up) return std::nullopt;
  return std::exchange(wait_ns_, std::min(2 * wait_ns_, longest_wait_ns));
}

}  // namespace detail

TAGMA_DECL std::shared_ptr<outlet> outlet_of_client(transport::network& by, std::string address, transport::options how,
                                                    const task_id& who, std::int64_t within_ns, std::uint64_t graph) {
  const auto self = std::make_shared<std::weak_ptr<outlet>>();
  const auto back = std::make_shared<detail::returning>();
  // A call is open as long as the outlet or one of its links, which keep it.
  const auto say = [self, back, graph, within_ns] {
    const std::shared_ptr<outlet> lost = self->lock();
    if (lost == nullptr) return;
    transport::outgoing m;
    m.kind = static_cast<std::uint16_t>(message::keep_graph);
    m.body = edge_of_run{graph, 0, 0, {}}.body();
    lost->ask(std::move(m), within_ns, *back);
  };
  const auto on_loss = [self, back, say, &by](const error&) {
    const std::shared_ptr<outlet> lost = self->lock();
    const auto wait = lost == nullptr ? std::nullopt : back->begin(lost->was_up());
    if (wait.has_value()) *wait == 0 ? say() : by.after(*wait, say);
  };
  const auto made = std::make_shared<outlet>(by, std::move(address), std::move(how), who, within_ns, on_loss);
  *self = made;
  return made;
}

TAGMA_DECL repeated_call::repeated_call(transport::network& by, outlet& to, message kind, std::string body,
                                        std::shared_ptr<const std::string> bulk, std::int64_t timeout_ns,
                                        std::int64_t again_ns, ending on_end)
    : network_(by),
      to_(to),
      kind_(kind),
      body_(std::move(body)),
      bulk_(std::move(bulk)),
      until_(runtime::later(by.now(), timeout_ns)),
      again_ns_(again_ns),
      on_end_(std::move(on_end)) {}

TAGMA_DECL void repeated_call::end(const error* why) noexcept {
  const ending last = std::move(on_end_);  // it may end the life of the call
  last(why);
}

TAGMA_DECL void repeated_call::ask() {
  const std::int64_t left = until_ - network_.now();
  if (left <= 0) {
    const error late(status_code::deadline_exceeded, "there was no answer in time");
    return end(&late);
  }
  transport::outgoing m;
  m.kind = static_cast<std::uint16_t>(kind_);
  m.body = body_;
  if (bulk_ != nullptr) detail::keep_bulk(m, bulk_);
  ++attempts_;
  lost_ = false;
  to_.ask(std::move(m), left, *this, as_);
}

TAGMA_DECL void repeated_call::give_up(const error& why) {
  std::shared_ptr<atomic<bool>> pause;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (why.code() == status_code::deadline_exceeded || why.code() == status_code::cancelled) limit_.emplace(why);
    as_->drop();
    pause = pause_;
  }
  if (pause != nullptr && pause->exchange(false))
    return end_given_up(error(status_code::cancelled, "it was given up before it was asked again"));
  to_.drop_unwanted();
}

TAGMA_DECL void repeated_call::leave() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    left_ = true;
  }
  as_->end();
}

TAGMA_DECL void repeated_call::end_given_up(const error& last) noexcept {
  std::optional<error> limit;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    limit = limit_;
  }
  end(limit.has_value() ? &*limit : &last);
}

TAGMA_DECL void repeated_call::pause() noexcept {
  const error given_up(status_code::cancelled, "it was given up before it was asked again");
  transport::network& by = network_;
  const std::int64_t wait = std::exchange(wait_ns_, std::min(2 * wait_ns_, longest_wait_ns));
  std::shared_ptr<atomic<bool>> now;
  try {
    now = std::make_shared<atomic<bool>>(true);
    bool wanted = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      wanted = as_->is_wanted();
      if (wanted) pause_ = now;
    }
    if (!wanted) return end_given_up(given_up);
    // From here on others may have ended the call.
    by.after(wait, [this, now] {
      if (now->exchange(false)) ask();
    });
  } catch (const std::exception& e) {
    const error failed(status_code::internal, e.what());
    if (now == nullptr || now->exchange(false)) end(&failed);
  }
}

TAGMA_DECL void repeated_call::replied(transport::incoming& reply) noexcept {
  try {
    answer_ = std::string(reply.body);
    elements_ = std::move(reply.buffer);
  } catch (const std::exception& e) {
    const error why(status_code::internal, e.what());
    return end(&why);
  }
  end(nullptr);
}

TAGMA_DECL void repeated_call::failed(const error& why) noexcept {
  bool left = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    left = left_;
  }
  const bool given_up = !as_->is_wanted(), cancelled = why.code() == status_code::cancelled;
  // A process that answers does not do so with Unavailable: the connection is lost, or there was none.
  lost_ = why.code() == status_code::unavailable || why.code() == status_code::deadline_exceeded || (cancelled && left);
  if (given_up && cancelled) return end_given_up(why);
  const std::int64_t now = network_.now();
  if (again_until_ == 0) again_until_ = std::min(until_, runtime::later(now, again_ns_));
  if (why.code() != status_code::unavailable || TAGMA_BROKEN(asked_once) || now >= again_until_ || given_up)
    return end(&why);
  pause();
}

}  // namespace tagma::service
