// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of outbox.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/broken.hpp"
#include "tagma/transport/outbox.hpp"

namespace tagma::transport {

namespace detail {

/// Frames are made ready up to so many bytes: enough for one call of the system, and little for a heartbeat to wait
/// for.
TAGMA_DECL constexpr std::size_t ready_bytes = 512 * 1024;

TAGMA_DECL std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TAGMA_DECL void append(std::string& to, const frame_bytes& header) {
  to.append(reinterpret_cast<const char*>(header.data()), header.size());
}

}  // namespace detail

TAGMA_DECL bool send_room::take(std::size_t body) {
  for (bool first = true;; first = false) {
    if (!is_full()) {
      messages_.fetch_add(1);
      bytes_.fetch_add(body);
      return true;
    }
    // Once more behind the mark: whoever made room in between may not have seen it.
    if (!first) return false;
    refused_.store(true);
  }
}

TAGMA_DECL void send_room::leave(std::size_t body) {
  messages_.fetch_sub(1);
  bytes_.fetch_sub(body);
}

TAGMA_DECL bool send_room::told() {
  if (TAGMA_BROKEN(room_not_told)) return false;
  return refused_.load() && messages_.load() <= most_messages_ / 2 && bytes_.load() <= most_bytes_ / 2 &&
         refused_.exchange(false);
}

TAGMA_DECL outbox::outbox(const limits& own, link_counters& counters)
    : own_(own), counters_(counters), room_(own.queued_messages, own.queued_bytes) {}

TAGMA_DECL void outbox::open(const limits& theirs, bool checksums) {
  theirs_ = theirs;
  credit_ = theirs.window_bytes;
  checksums_ = checksums;
  open_ = true;
}

TAGMA_DECL void outbox::control(frame f, std::string_view payload, const receipt& gives_back) {
  f.length = static_cast<std::uint32_t>(payload.size());
  f.payload_crc = payload.empty() ? 0 : io::crc32c(payload);
  piece p;
  p.own.reserve(frame_header_bytes + payload.size());
  detail::append(p.own, encode(f));
  p.own += payload;
  p.gives_back = gives_back;
  p.moves = f.type == frame_type::moved && f.kind == 0;
  control_.push_back(std::move(p));
}

TAGMA_DECL bool outbox::has_control(frame_type type) const {
  return std::any_of(control_.begin(), control_.end(),
                     [type](const piece& p) { return static_cast<frame_type>(p.own[5]) == type; });
}

TAGMA_DECL bool outbox::credit(std::uint64_t total) {
  if (total < credit_) return false;
  credit_ = total;
  return true;
}

TAGMA_DECL bool outbox::want(std::uint32_t number) {
  const auto at = transfers_.find(number);
  // One that is not there any more was taken back, which the other end has not seen yet.
  if (at == transfers_.end()) return number - 1 < last_transfer_;
  if (!at->second.announced) return false;
  at->second.announced = false;
  turns_.push_back(number);
  return true;
}

TAGMA_DECL void outbox::end(send_attempt* attempt, std::exception_ptr why) {
  if (attempt != nullptr && !TAGMA_BROKEN(attempt_forgotten)) attempt->ended(std::move(why));
}

/// Makes a frame that is ready independent of memory that is not the connection's.
TAGMA_DECL void outbox::keep(piece& p) {
  p.own.append(reinterpret_cast<const char*>(p.bulk.data()), p.bulk.size());
  p.bulk = {};
  p.transfer = 0;
  p.last = false;
}

TAGMA_DECL std::optional<withdrawn> outbox::withdraw(std::uint32_t number, const error& why) {
  const auto at = transfers_.find(number);
  if (at == transfers_.end()) return std::nullopt;
  const transfer t = at->second;
  if (TAGMA_BROKEN(rejected_goes_on) && t.offset < t.bulk.size()) return t.of;
  transfers_.erase(at);
  std::erase(turns_, number);
  for (piece& p : pieces_)
    if (p.transfer == number) keep(p);
  const bool whole = t.offset == t.bulk.size();
  if (!whole) control({.type = frame_type::drop, .transfer = number});
  end(t.attempt, whole ? nullptr : std::make_exception_ptr(why));
  if (whole) return std::nullopt;
  return t.of;
}

TAGMA_DECL void outbox::cancel(std::uint64_t number, const error& why) {
  const auto queued =
      std::find_if(queue_.begin(), queue_.end(), [number](const order& o) { return o.number == number; });
  if (queued != queue_.end()) {
    send_attempt* const attempt = queued->message.attempt;
    room_.leave(queued->message.body.size());
    queue_.erase(queued);
    return end(attempt, std::make_exception_ptr(why));
  }
  for (const auto& [id, t] : transfers_) {
    if (t.of.number != number) continue;
    withdraw(id, why);
    return;
  }
}

TAGMA_DECL void outbox::push(piece&& p) {
  ready_bytes_ += p.own.size() + p.bulk.size();
  given_back_.credit += p.gives_back.credit;
  given_back_.buffered += p.gives_back.buffered;
  pieces_.push_back(std::move(p));
}

/// Whether the first message that waits has credit, and a transfer for its bulk.
TAGMA_DECL bool outbox::message_can_go() {
  while (!queue_.empty() && queue_.front().message.body.size() > theirs_.body_bytes) {
    room_.leave(queue_.front().message.body.size());
    too_long_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  if (queue_.empty()) return false;
  const outgoing& m = queue_.front().message;
  if (!m.bulk.empty() && transfers_.size() >= theirs_.transfers) return false;
  const std::uint64_t cost = frame_header_bytes + m.body.size();
  return used_ + cost <= credit_ + (TAGMA_BROKEN(credit_off_by_one) ? 1 : 0);
}

TAGMA_DECL void outbox::push_message(std::int64_t now) {
  order o = std::move(queue_.front());
  queue_.pop_front();
  const outgoing& m = o.message;
  room_.leave(m.body.size());
  used_ += frame_header_bytes + m.body.size();
  frame f{.type = frame_type::message,
          .flags = o.flags,
          .length = static_cast<std::uint32_t>(m.body.size()),
          .payload_crc = m.body.empty() ? 0 : io::crc32c(m.body),
          .kind = m.kind,
          .request = o.request,
          .value = m.bulk.size()};
  if ((o.flags & frame_wants_reply) != 0)
    f.time_left_ms = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(runtime::later(o.deadline_ns - now, 999'999) / 1'000'000, 1, UINT32_MAX));
  if (!m.bulk.empty()) {
    if (++last_transfer_ == 0) ++last_transfer_;
    f.transfer = last_transfer_;
    const bool asked_for = (o.flags & frame_is_reply) != 0;
    const bool eager = !asked_for && used_ + m.bulk.size() <= credit_;
    if (eager) used_ += m.bulk.size();
    const bool announced = !asked_for && !eager;
    if (announced) f.flags |= frame_announced;
    transfers_[f.transfer] = {m.bulk, 0, m.attempt, {o.number, o.request, o.flags}, announced};
    if (!announced) turns_.push_back(f.transfer);
  }
  piece p;
  p.own.reserve(frame_header_bytes + m.body.size());
  detail::append(p.own, encode(f));
  p.own += m.body;
  ++counters_.messages_sent;
  push(std::move(p));
  if (m.bulk.empty()) end(m.attempt, nullptr);
}

TAGMA_DECL void outbox::push_chunk() {
  const std::uint32_t id = turns_.front();
  transfer& t = transfers_.at(id);
  const std::size_t size =
      std::min<std::size_t>(t.bulk.size() - t.offset, std::min(own_.chunk_bytes, theirs_.chunk_bytes));
  piece p;
  p.bulk = t.bulk.subspan(t.offset, size);
  p.transfer = id;
  frame f{.type = frame_type::chunk, .length = static_cast<std::uint32_t>(size), .transfer = id, .value = t.offset};
  if (checksums_)
    f.payload_crc = io::extend_crc32c(0, p.bulk.data(), size);
  else
    f.flags = frame_unchecked;
  detail::append(p.own, encode(f));
  t.offset += size;
  p.last = t.offset == t.bulk.size();
  if (!TAGMA_BROKEN(chunks_not_in_turns) || p.last) turns_.pop_front();
  if (!TAGMA_BROKEN(chunks_not_in_turns) && !p.last) turns_.push_back(id);
  counters_.bulk_sent += size;
  push(std::move(p));
}

TAGMA_DECL void outbox::fill(std::int64_t now) {
  while (ready_bytes_ < detail::ready_bytes) {
    if (!control_.empty()) {
      checksums_ = checksums_ && !control_.front().moves;  // memory is not a wire
      push(std::move(control_.front()));
      control_.pop_front();
      continue;
    }
    if (!open_) return;
    const bool message = message_can_go();
    if (!message && turns_.empty()) return;
    if (message && (messages_turn_ || turns_.empty()))
      push_message(now);
    else
      push_chunk();
    messages_turn_ = !messages_turn_;
  }
}

TAGMA_DECL std::size_t outbox::gather(std::span<std::span<const std::byte>> to, std::int64_t now) {
  fill(now);
  std::size_t count = 0, skip = begun_;
  for (const piece& p : pieces_) {
    for (std::span<const std::byte> part : {detail::bytes_of(p.own), p.bulk}) {
      if (count == to.size()) return count;
      const std::size_t before = std::min(skip, part.size());
      skip -= before;
      if (before < part.size()) to[count++] = part.subspan(before);
    }
    if (p.moves) return count;
  }
  return count;
}

TAGMA_DECL void outbox::sent(std::size_t bytes) {
  counters_.bytes_sent += bytes;
  ready_bytes_ -= bytes;
  begun_ += bytes;
  while (!pieces_.empty() && begun_ >= pieces_.front().own.size() + pieces_.front().bulk.size()) {
    const piece& p = pieces_.front();
    begun_ -= p.own.size() + p.bulk.size();
    moved_ = moved_ || p.moves;
    ++counters_.frames_sent;
    const auto at = p.last ? transfers_.find(p.transfer) : transfers_.end();
    send_attempt* const attempt = at == transfers_.end() ? nullptr : at->second.attempt;
    if (at != transfers_.end()) transfers_.erase(at);
    pieces_.pop_front();
    end(attempt, nullptr);
  }
}

TAGMA_DECL void outbox::finish(const error& why) {
  control_.clear();
  if (begun_ == 0)
    pieces_.clear();
  else
    pieces_.resize(std::min<std::size_t>(pieces_.size(), 1));
  for (piece& p : pieces_) keep(p);
  ready_bytes_ = pieces_.empty() ? 0 : pieces_.front().own.size() - begun_;
  open_ = false;
  turns_.clear();
  const std::exception_ptr error = std::make_exception_ptr(why);
  std::deque<send_attempt*> attempts;
  for (const auto& [id, t] : transfers_) attempts.push_back(t.attempt);
  for (const order& o : queue_) {
    attempts.push_back(o.message.attempt);
    room_.leave(o.message.body.size());
  }
  transfers_.clear();
  queue_.clear();
  for (send_attempt* attempt : attempts) end(attempt, error);
}

TAGMA_DECL receipt outbox::take_given_back() { return std::exchange(given_back_, {}); }

}  // namespace tagma::transport
