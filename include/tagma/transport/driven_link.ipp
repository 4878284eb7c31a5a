// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of driven_link.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/driven_link.hpp"

namespace tagma::transport {

TAGMA_DECL driven_link::driven_link(connection::setting s, std::shared_ptr<handler> with, std::int64_t now)
    : handler_(std::move(with)),
      body_bytes_(s.how.limits.body_bytes),
      connection_(std::move(s), *handler_, *this, now) {}

TAGMA_DECL send_result driven_link::send(outgoing message) { return submit({.message = std::move(message)}, nullptr); }

TAGMA_DECL send_result driven_link::start(outgoing message, std::int64_t timeout_ns, call& with) {
  if (timeout_ns <= 0) tagma::fail(status_code::invalid_argument, "a call has a time in which it is to be answered");
  order o{.message = std::move(message), .flags = frame_wants_reply};
  o.deadline_ns = runtime::later(clock(), timeout_ns);
  return submit(std::move(o), &with);
}

TAGMA_DECL send_result driven_link::reply(std::uint64_t request, outgoing message) {
  if (request == 0) tagma::fail(status_code::invalid_argument, "an answer needs the number of a call");
  return submit({.message = std::move(message), .request = request, .flags = frame_is_reply}, nullptr);
}

TAGMA_DECL send_result driven_link::fail(std::uint64_t request, const error& why) {
  order o{.request = request, .flags = frame_is_reply | frame_is_error};
  o.message.kind = static_cast<std::uint16_t>(why.code() == status_code::ok ? status_code::unknown : why.code());
  o.message.body = sentence_of(why).substr(0, 1024);
  return submit(std::move(o), nullptr);
}

TAGMA_DECL send_result driven_link::submit(order what, call* with) {
  const std::size_t size = what.message.body.size();
  if (size > body_bytes_)
    tagma::fail(status_code::invalid_argument,
                {"a message has a body of ", size, " bytes, and ", body_bytes_, " is the most: send it as bulk"});
  if (silent_.load() || (closing_.load() && (what.flags & frame_is_reply) == 0)) return {send_status::closed, 0};
  if (!connection_.room().take(size)) {
    (void)post({.what = wish::kind::look});
    return {send_status::full, 0};
  }
  const std::uint64_t number = last_number_.fetch_add(1) + 1;
  what.number = number;
  if (with != nullptr) what.request = number;
  if (post({.what = wish::kind::send, .message = std::move(what), .with = with})) return {send_status::taken, number};
  connection_.room().leave(size);
  return {send_status::closed, 0};
}

TAGMA_DECL bool driven_link::post(wish&& w) {
  bool first = false;
  {
    const mutex_lock lock(box_mutex_);
    if (shut_) return false;
    first = box_.empty();
    box_.push_back(std::move(w));
  }
  if (first) wake();
  return true;
}

TAGMA_DECL void driven_link::cancel(std::uint64_t number) {
  (void)post({.what = wish::kind::cancel, .number = number});
}

TAGMA_DECL void driven_link::discard(std::uint32_t transfer) {
  (void)post({.what = wish::kind::discard, .number = transfer});
}

TAGMA_DECL void driven_link::consumed(const receipt& of) { (void)post({.what = wish::kind::consumed, .of = of}); }

TAGMA_DECL void driven_link::close() {
  closing_.store(true);
  (void)post({.what = wish::kind::close});
}

TAGMA_DECL void driven_link::abort(error why) {
  closing_.store(true);
  silent_.store(true);
  wish end;
  end.what = wish::kind::abort, end.why = std::make_shared<error>(std::move(why));
  (void)post(std::move(end));
}

TAGMA_DECL identity driven_link::peer() const {
  if (is_here()) return connection_.peer();
  const mutex_lock lock(shown_mutex_);
  return shown_peer_;
}

TAGMA_DECL link_counters driven_link::counters() const {
  if (is_here()) return connection_.counters();
  const mutex_lock lock(shown_mutex_);
  return shown_;
}

TAGMA_DECL void driven_link::grant(wish& w) {
  switch (w.what) {
    case wish::kind::send:
      w.with != nullptr ? connection_.start(std::move(w.message), *w.with) : connection_.send(std::move(w.message));
      break;
    case wish::kind::cancel:
      connection_.cancel(w.number, clock());
      break;
    case wish::kind::discard:
      connection_.discard(static_cast<std::uint32_t>(w.number));
      break;
    case wish::kind::consumed:
      connection_.consumed(w.of);
      break;
    case wish::kind::close:
      connection_.close(clock());
      break;
    case wish::kind::abort:
      connection_.abort(*w.why);
      break;
    case wish::kind::look:
      connection_.tell_room();
      break;
  }
}

TAGMA_DECL void driven_link::take_wishes() {
  {
    const mutex_lock lock(box_mutex_);
    taken_.swap(box_);
  }
  for (wish& w : taken_) grant(w);
  taken_.clear();
  if (connection_.is_closing()) closing_.store(true);
  if (connection_.has_said_goodbye()) silent_.store(true);
}

TAGMA_DECL void driven_link::show() {
  const mutex_lock lock(shown_mutex_);
  shown_ = connection_.counters();
  if (shown_peer_ != connection_.peer()) shown_peer_ = connection_.peer();
}

TAGMA_DECL void driven_link::shut() {
  closing_.store(true);
  silent_.store(true);
  {
    const mutex_lock lock(box_mutex_);
    shut_ = true;
  }
  take_wishes();
  show();
  handler_.reset();
}

TAGMA_DECL void driven_link::vanish() {
  closing_.store(true);
  silent_.store(true);
  {
    const mutex_lock lock(box_mutex_);
    shut_ = true;
  }
  handler_.reset();
}

}  // namespace tagma::transport
