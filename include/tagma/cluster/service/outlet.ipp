// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of outlet.hpp: in the compiled half, or else in each file that includes it.

#include <optional>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

TAGMA_DECL outlet::outlet(transport::network& by, std::string address, transport::options how, const task_id& who,
                          std::int64_t within_ns, loss on_loss)
    : network_(by),
      address_(std::move(address)),
      how_(std::move(how)),
      within_ns_(within_ns),
      on_loss_(std::move(on_loss)) {
  how_.wanted_job = who.job;
  how_.wanted_task = who.task;
  how_.patience.handshake_ns = within_ns;  // a process that is stopped takes connections, and says nothing
}

TAGMA_DECL void outlet::give_up(item& one, const error& why) {
  if (one.with != nullptr) one.with->failed(why);
  if (one.what.attempt != nullptr) one.what.attempt->ended(std::make_exception_ptr(why));
}

TAGMA_DECL void outlet::post(transport::outgoing m) { add({.what = std::move(m)}, INT64_MAX); }

TAGMA_DECL void outlet::ask(transport::outgoing m, std::int64_t timeout_ns, transport::call& with,
                            std::shared_ptr<asked_call> as) {
  add({std::move(m), &with, std::move(as), runtime::later(network_.now(), timeout_ns), timeout_ns < within_ns_},
      timeout_ns);
}

TAGMA_DECL void outlet::add(item one, std::int64_t timeout_ns) {
  bool refused = false, waits = false;
  {
    const std::lock_guard<mutex> lock(mutex_);
    refused = closed_ || !one.is_wanted();
    if (!refused && one.with == nullptr && !up_ && TAGMA_BROKEN(early_post_dropped)) refused = true;
    if (!refused) {
      waiting_.push_back(std::move(one));
      if (link_ == nullptr) link_ = network_.connect(address_, how_, shared_from_this(), within_ns_);
      waits = !up_ && timeout_ns < INT64_MAX;
    }
  }
  if (refused) return give_up(one, error(status_code::cancelled, "the way to " + address_ + " is closed"));
  if (waits)
    network_.after(timeout_ns, [self = weak_from_this()] {
      if (const std::shared_ptr<outlet> still = self.lock()) still->drop_late();
    });
  flush();
}

TAGMA_DECL std::deque<outlet::item> outlet::taken(bool (*which)(const item&, std::int64_t now)) {
  const std::lock_guard<mutex> lock(mutex_);
  std::deque<item> found, left;
  for (item& one : waiting_) (which(one, network_.now()) ? found : left).push_back(std::move(one));
  waiting_.swap(left);
  return found;
}

TAGMA_DECL void outlet::drop_unwanted() {
  const error why(status_code::cancelled, "it was given up");
  const auto unwanted = [](const item& i, std::int64_t) { return !i.is_wanted(); };
  for (item& one : taken(unwanted)) give_up(one, why);
}

TAGMA_DECL void outlet::drop_late() {
  const auto past = [](const item& i, std::int64_t now) { return i.deadline_ns <= now; };
  for (item& one : taken(past)) give_up(one, late(one));
}

/// The link may be lost for the same reason, at the same time: whoever tries again then hears one code.
TAGMA_DECL error outlet::late(const item& one) const {
  return error(one.is_short ? status_code::deadline_exceeded : status_code::unavailable,
               "there was no connection to " + address_ + " in time");
}

TAGMA_DECL void outlet::flush() {
  for (;;) {
    item one;
    std::shared_ptr<transport::link> to;
    {
      const std::lock_guard<mutex> lock(mutex_);
      // One thread sends at a time, so that what is said stays in order.
      if (!up_ || flushing_ || waiting_.empty()) return;
      flushing_ = true;
      room_came_ = false;
      one = std::move(waiting_.front());
      waiting_.pop_front();
      to = link_;
    }
    transport::outgoing copy = one.what;
    bool again = false, over = false, unwanted = false;
    try {
      const std::int64_t left = one.deadline_ns - network_.now();
      if (left <= 0) throw late(one);
      const transport::send_result sent =
          one.with == nullptr ? to->send(std::move(copy)) : to->start(std::move(copy), left, *one.with);
      if (sent && one.as != nullptr) one.as->sent(to, sent.number);
      again = sent.status == transport::send_status::full;
      over = sent.status == transport::send_status::closed;
    } catch (const error& e) {
      give_up(one, e);
    }
    {
      const std::lock_guard<mutex> lock(mutex_);
      flushing_ = false;
      // Meanwhile there may be room, or the link may be lost: nobody is told again.
      if (again && !one.is_wanted()) {
        unwanted = true;
      } else if (again && link_ == nullptr) {
        over = true;
      } else if (again) {
        waiting_.push_front(std::move(one));
        if (link_ == to && !room_came_) return;
        continue;
      }
    }
    if (over) give_up(one, error(status_code::unavailable, "the connection to " + address_ + " is over"));
    if (unwanted) give_up(one, error(status_code::cancelled, "it was given up"));
  }
}

TAGMA_DECL void outlet::connected(transport::link& with) {
  {
    const std::lock_guard<mutex> lock(mutex_);
    up_ = true;
    peer_ = with.peer();
  }
  flush();
}

TAGMA_DECL void outlet::writable(transport::link&) {
  {
    const std::lock_guard<mutex> lock(mutex_);
    room_came_ = true;
  }
  flush();
}

TAGMA_DECL void outlet::over(const transport::link& of, const error& why, bool tell) {
  std::deque<item> left;
  {
    const std::lock_guard<mutex> lock(mutex_);
    if (link_.get() != &of) return;
    if (!TAGMA_BROKEN(link_not_made_again)) link_.reset();
    was_up_ = std::exchange(up_, false);
    left.swap(waiting_);
    tell = tell && !closed_;
  }
  for (item& one : left) give_up(one, why);
  if (tell && on_loss_ && !TAGMA_BROKEN(loss_not_told)) on_loss_(why);
}

TAGMA_DECL void outlet::closed(transport::link& with) {
  over(with, error(status_code::unavailable, address_ + " has closed the connection"), true);
}

TAGMA_DECL void outlet::lost(transport::link& with, const error& why) { over(with, why, true); }

TAGMA_COLD TAGMA_DECL std::shared_ptr<transport::link> outlet::current() {
  const std::lock_guard<mutex> lock(mutex_);
  return up_ ? link_ : nullptr;
}

TAGMA_DECL std::optional<transport::identity> outlet::peer() {
  const std::lock_guard<mutex> lock(mutex_);
  return up_ ? std::optional(peer_) : std::nullopt;
}

TAGMA_DECL void outlet::close() {
  std::shared_ptr<transport::link> open;
  {
    const std::lock_guard<mutex> lock(mutex_);
    closed_ = true;
    open = link_;
  }
  if (open != nullptr) open->close();
}

}  // namespace tagma::service
