// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of connection.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/runtime/wait_word.hpp"
#include "tagma/transport/broken.hpp"
#include "tagma/transport/connection.hpp"

namespace tagma::transport {

namespace detail {

TAGMA_DECL constexpr std::size_t strangers_bytes =
    1024;  // for who has not proven who they are; grows with a long hello
TAGMA_DECL constexpr std::size_t friends_bytes = 64 * 1024;

}  // namespace detail

TAGMA_DECL connection::connection(setting s, handler& with, link& self, std::int64_t now)
    : set_(able(std::move(s))),
      handler_(with),
      self_(self),
      out_(set_.how.limits, counters_),
      in_(detail::strangers_bytes),
      meeting_(set_.which, set_.how, set_.nonce),
      granted_(set_.how.limits.window_bytes),
      told_granted_(granted_),
      started_ns_(now),
      heard_ns_(now) {
  if (!set_.waits) begin(now);
}

TAGMA_DECL void connection::begin(std::int64_t now) {
  if (stage_ != stage::waits) return;
  stage_ = stage::meets;
  started_ns_ = heard_ns_ = now;
  if (set_.which == side::connects) out_.control({.type = frame_type::hello}, meeting_.hello());
}

TAGMA_DECL void connection::threw(const char* what) {
  refuse(error(status_code::internal, sentence({"a handler of ", to_string(set_.how.self), " threw: ", what})));
}

TAGMA_DECL std::string connection::name() const { return known_ ? to_string(peer_) : set_.label; }

TAGMA_DECL inlet_room connection::receive_into() {
  const bool direct = chunk_.left > 0 && in_.view().empty() && !is_over();
  const std::span<std::byte> rest = in_.room(), there = direct ? chunk_room() : std::span<std::byte>();
  if (there.empty()) return {rest, {}};
  // The next header, and not the bulk behind it, which will have a place of its own.
  return {there, rest.first(std::min(rest.size(), frame_header_bytes))};
}

TAGMA_DECL void connection::received(std::size_t n, std::int64_t now) {
  counters_.bytes_received += n;
  heard_ns_ = now;
  if (is_over()) return;
  const bool direct = chunk_.left > 0 && in_.view().empty();
  const std::span<std::byte> there = direct ? chunk_room() : std::span<std::byte>();
  const std::size_t first = std::min(n, there.size());
  in_.add(n - first);
  if (first > 0) chunk_came(there.data(), first, now);
  parse(now);
  settle(now);
}

TAGMA_DECL void connection::receive(std::string_view bytes, std::int64_t now) {
  while (!bytes.empty()) {
    const inlet_room room = receive_into();
    const std::size_t n = std::min(bytes.size(), room.first.size());
    std::memcpy(room.first.data(), bytes.data(), n);
    bytes.remove_prefix(n);
    received(n, now);
  }
}

TAGMA_DECL void connection::parse(std::int64_t now) {
  while (!is_over()) {
    const std::string_view there = in_.view();
    if (there.empty()) return;
    if (chunk_.left > 0) {
      const std::size_t n = std::min(chunk_.left, there.size());
      in_.take(n);
      chunk_came(reinterpret_cast<const std::byte*>(there.data()), n, now);
      continue;
    }
    const decoded_frame d = decode_frame(there, set_.how.limits);
    if (d.verdict == frame_verdict::more) return;
    if (d.verdict == frame_verdict::bad)
      return refuse(error(status_code::data_loss, sentence({name(), " sent ", d.reason})));
    const frame& f = d.header;
    if (f.type == frame_type::chunk) {
      in_.take(frame_header_bytes);
      ++counters_.frames_received;
      begin_chunk(f);
      continue;
    }
    if (there.size() - frame_header_bytes < f.length) return;
    const std::string_view payload = there.substr(frame_header_bytes, f.length);
    if (f.length > 0 && io::crc32c(payload) != f.payload_crc && !TAGMA_BROKEN(body_not_checked))
      return refuse(error(status_code::data_loss, sentence({name(), " sent a payload with a wrong checksum"})));
    in_.take(frame_header_bytes + f.length);
    ++counters_.frames_received;
    handle(f, payload, now);
  }
}

TAGMA_DECL void connection::handle(const frame& f, std::string_view payload, std::int64_t now) {
  if (f.type == frame_type::refusal) {
    const error why(static_cast<status_code>(f.kind),
                    sentence({name(), " refused the connection: ", detail::printable(payload)}));
    return finish(&why);
  }
  if (stage_ != stage::open) return meet(f, payload, now);
  switch (f.type) {
    case frame_type::message:
      return message(f, payload, now);
    case frame_type::want:
      if (!out_.want(f.transfer)) violated("that it wants bulk which was not announced");
      return;
    case frame_type::reject:
      return rejected(f, payload);
    case frame_type::drop:
      return dropped(f.transfer);
    case frame_type::credit:
      if (!out_.credit(f.value)) violated("less credit than before");
      return;
    case frame_type::ping:
      // One that waits already is as good for who does not read.
      if (!out_.has_control(frame_type::pong))
        out_.control({.type = frame_type::pong, .request = f.value, .value = static_cast<std::uint64_t>(now)});
      return;
    case frame_type::pong:
      return pong(f, now);
    case frame_type::goodbye:
      return goodbye(now);
    case frame_type::segment:
      if (!moving_.segment(payload)) violated("memory to share that it may not offer");
      return;
    case frame_type::moved:
      return moved(f);
    default:
      return violated("a frame that belongs into a handshake");
  }
}

TAGMA_DECL void connection::meet(const frame& f, std::string_view payload, std::int64_t now) {
  meeting::step next = meeting_.take(f.type, payload, name());
  if (!next.refused && next.proven) guarded([&] { next.refused = handler_.admit(meeting_.other().who); });
  if (is_over()) return;
  if (next.refused) return refuse(*next.refused);
  if (next.reply != frame_type::ping) out_.control({.type = next.reply}, next.payload);
  if (next.proven) open(now);
}

TAGMA_DECL void connection::open(std::int64_t now) {
  stage_ = stage::open;
  const greeting& theirs = meeting_.other();
  peer_ = theirs.who;
  known_ = true;
  in_.widen(detail::friends_bytes);
  out_.open(theirs.limits, set_.how.checksums || theirs.checksums);
  moving_.begin(set_.which == side::connects, set_.how.shared_memory && theirs.shares_memory);
  next_ping_ns_ = now;
  guarded([&] { handler_.connected(self_); });
}

TAGMA_DECL void connection::message(const frame& f, std::string_view body, std::int64_t now) {
  const bool reply = (f.flags & frame_is_reply) != 0;
  const bool eager = f.value > 0 && !reply && (f.flags & frame_announced) == 0;
  used_ += frame_header_bytes + body.size() + (eager ? f.value : 0);
  if (heard_goodbye_) return violated("a message behind its good-bye");
  if (used_ > told_granted_ && !TAGMA_BROKEN(credit_believed)) return violated("more than its credit");
  ++counters_.messages_received;
  if (reply) return answered(f, body, now);
  if (f.value > 0) return arrives(f, body, nullptr, now);
  incoming m{.kind = f.kind, .request = f.request, .wants_reply = (f.flags & frame_wants_reply) != 0};
  m.time_left_ns = std::int64_t{f.time_left_ms} * 1'000'000;
  m.body = body;
  m.receipt.credit = frame_header_bytes + body.size();
  deliver(m, nullptr);
}

TAGMA_DECL void connection::answered(const frame& f, std::string_view body, std::int64_t now) {
  if (calls_.transfer_of(f.request) != 0) return violated("two answers to one call");
  const receipt cost{.credit = frame_header_bytes + body.size()};
  if ((f.flags & frame_is_error) != 0) {
    give_back(cost);
    return fail_call(f.request, detail::error_of(f.kind, body));
  }
  if (f.value > 0) return arrives(f, body, calls_.find(f.request), now);
  call* const with = TAGMA_BROKEN(call_ended_twice) ? calls_.find(f.request) : calls_.take(f.request);
  if (with == nullptr) return give_back(cost);  // too late
  incoming m{.kind = f.kind, .request = f.request, .body = body};
  m.receipt = cost;
  deliver(m, with);
}

TAGMA_DECL void connection::deliver(incoming& m, call* with) {
  guarded([&] { with == nullptr ? handler_.received(self_, m) : with->replied(m); });
  if (!m.held) give_back(m.receipt);
}

TAGMA_DECL incoming connection::incoming_of(const arriving& a, std::int64_t now) const {
  incoming m{.kind = a.header.kind,
             .request = a.header.request,
             .wants_reply = (a.header.flags & frame_wants_reply) != 0,
             .time_left_ns = a.deadline_ns == 0 ? 0 : std::max<std::int64_t>(a.deadline_ns - now, 0),
             .body = a.body,
             .bulk_size = a.header.value,
             .transfer = a.header.transfer};
  m.receipt = a.holds;
  return m;
}

TAGMA_DECL placement connection::place_of(const arriving& a, call* with, std::int64_t now) {
  const incoming m = incoming_of(a, now);
  try {
    return with != nullptr ? with->place(m) : handler_.place(self_, m);
  } catch (const error& e) {
    return placement::refused(e);
  } catch (const std::exception& e) {
    return placement::refused(error(status_code::internal, e.what()));
  }
}

/// Skips the bulk, and says so; what the message has used is given back when that goes.
TAGMA_DECL void connection::reject(arriving& a, const error& why) {
  a.how = placement::kind::refuse;
  a.waits = false;
  a.buffer = {};
  const auto reply = static_cast<std::uint16_t>(a.header.flags & frame_is_reply);
  out_.control({.type = frame_type::reject,
                .flags = reply,
                .kind = static_cast<std::uint16_t>(why.code()),
                .transfer = a.header.transfer,
                .request = a.header.request,
                .value = a.header.kind},
               sentence_of(why).substr(0, 1024), std::exchange(a.holds, {}));
}

TAGMA_DECL void connection::arrives(const frame& f, std::string_view body, call* with, std::int64_t now) {
  if (++last_transfer_ == 0) ++last_transfer_;
  if (f.transfer != last_transfer_) return violated("a transfer out of order");
  if (arriving_.size() >= set_.how.limits.transfers) return violated("more transfers than are taken");
  arriving& a = arriving_[f.transfer];
  a.header = f;
  a.body = body;
  if (f.time_left_ms != 0) a.deadline_ns = now + std::int64_t{f.time_left_ms} * 1'000'000;
  const bool announced = (f.flags & frame_announced) != 0, reply = (f.flags & frame_is_reply) != 0;
  const bool eager = !announced && !reply;
  a.holds.credit = frame_header_bytes + body.size() + (eager ? f.value : 0);
  const placement p = reply && with == nullptr
                          ? placement::refused(error(status_code::deadline_exceeded, "nobody waits for it any more"))
                          : place_of(a, with, now);
  const std::uint64_t most = set_.how.limits.buffered_bytes;
  std::optional<error> why = p.why();
  if (p.what() == placement::kind::buffer && !eager && f.value > (announced ? most : most - buffered_))
    why = error(status_code::resource_exhausted,
                sentence({"a message with ", f.value, " bytes of bulk, and ", most, " is what a connection buffers"}));
  if (why) {
    reject(a, *why);
    if (with != nullptr) fail_call(f.request, *why);
    if (!p.why() && !reply) guarded([&] { handler_.abandoned(self_, f.transfer); });
    return;
  }
  a.how = p.what();
  a.where = p.where();
  a.waits = announced;
  if (with != nullptr) calls_.arrives(f.request, f.transfer);
  if (a.how == placement::kind::at && eager) {
    a.holds.credit -= f.value;
    give_back({.credit = f.value});
  }
  if (a.how == placement::kind::at && announced) {
    a.waits = false;
    out_.control({.type = frame_type::want, .transfer = f.transfer});
  }
  if (a.how == placement::kind::buffer && reply) buffered_ += a.holds.buffered = f.value;
}

/// Announced bulk that is to be buffered is asked for in its order, as soon as there is room.
TAGMA_DECL void connection::want_buffers() {
  for (auto& [transfer, a] : arriving_) {
    if (!a.waits) continue;
    if (a.header.value > set_.how.limits.buffered_bytes - buffered_) return;
    buffered_ += a.holds.buffered = a.header.value;
    a.waits = false;
    out_.control({.type = frame_type::want, .transfer = transfer});
  }
}

TAGMA_DECL void connection::begin_chunk(const frame& f) {
  if (stage_ != stage::open) return violated("a frame that does not belong into a handshake");
  const auto at = arriving_.find(f.transfer);
  if (at == arriving_.end()) return violated("a chunk of no transfer");
  const arriving& a = at->second;
  if (a.waits) return violated("a chunk that nobody asked for");
  if (f.value != a.offset || f.length > a.header.value - a.offset)
    return violated("a chunk at another place than the next");
  const bool checked = (f.flags & frame_unchecked) == 0;
  if (!checked && !receives_there() && (set_.how.checksums || meeting_.other().checksums))
    return violated("a chunk without a checksum");
  chunk_ = {f.transfer, f.length, 0, f.payload_crc, checked};
}

TAGMA_DECL std::span<std::byte> connection::chunk_room() {
  arriving& a = arriving_.at(chunk_.transfer);
  if (a.how == placement::kind::refuse) return {};
  const std::size_t offset = TAGMA_BROKEN(offset_not_kept) ? 0 : a.offset;
  if (a.how == placement::kind::at) return {a.where + offset, chunk_.left};
  a.make_room(a.offset + chunk_.left);
  return {a.buffer.data() + offset, chunk_.left};
}

TAGMA_DECL void connection::chunk_came(const std::byte* bytes, std::size_t n, std::int64_t now) {
  const std::span<std::byte> room = chunk_room();
  if (!room.empty() && room.data() != bytes) std::memcpy(room.data(), bytes, n);
  if (chunk_.checked) chunk_.crc = io::extend_crc32c(chunk_.crc, bytes, n);
  arriving& a = arriving_.at(chunk_.transfer);
  a.offset += n;
  chunk_.left -= n;
  counters_.bulk_received += n;
  if (chunk_.left > 0) return;
  if (chunk_.checked && chunk_.crc != chunk_.expected && !TAGMA_BROKEN(chunk_not_checked))
    return refuse(error(status_code::data_loss, sentence({name(), " sent bulk with a wrong checksum"})));
  if (a.offset == a.header.value) complete(chunk_.transfer, now);
}

TAGMA_DECL void connection::complete(std::uint32_t transfer, std::int64_t now) {
  arriving a = std::move(arriving_.extract(transfer).mapped());
  if (a.how == placement::kind::refuse) return;
  incoming m = incoming_of(a, now);
  m.bulk = {a.where, static_cast<std::size_t>(a.header.value)};
  if (a.how == placement::kind::buffer) {
    m.buffer = std::move(a.buffer);
    m.bulk = m.buffer;
  }
  const bool reply = (a.header.flags & frame_is_reply) != 0;
  deliver(m, reply ? calls_.take(a.header.request) : nullptr);
}

/// Leaves bulk that was placed to whoever placed it.
TAGMA_DECL void connection::skip(std::uint32_t transfer, const error& why) {
  const auto at = arriving_.find(transfer);
  if (at == arriving_.end() || at->second.how == placement::kind::refuse) return;
  reject(at->second, why);
  if ((at->second.header.flags & frame_is_reply) == 0) guarded([&] { handler_.abandoned(self_, transfer); });
}

TAGMA_DECL void connection::dropped(std::uint32_t transfer) {
  const auto at = arriving_.find(transfer);
  if (at == arriving_.end()) return violated("the end of no transfer");
  const arriving a = std::move(at->second);
  arriving_.erase(at);
  if (a.how == placement::kind::refuse) return;
  give_back(a.holds);
  if ((a.header.flags & frame_is_reply) == 0) return guarded([&] { handler_.abandoned(self_, transfer); });
  fail_call(a.header.request, error(status_code::aborted, sentence({name(), " gave its answer up"})));
}

TAGMA_DECL void connection::rejected(const frame& f, std::string_view text) {
  const error why = detail::error_of(f.kind, text);
  out_.withdraw(f.transfer, why);
  if ((f.flags & frame_is_reply) != 0) return;  // whoever asked does not wait any more
  if (f.request != 0) return fail_call(f.request, why);
  guarded([&] { handler_.rejected(self_, static_cast<std::uint16_t>(f.value), why); });
}

TAGMA_DECL void connection::pong(const frame& f, std::int64_t now) {
  const auto asked = static_cast<std::int64_t>(f.request);
  if (asked > now || asked < started_ns_) return;
  const std::int64_t trip = now - asked;
  counters_.round_trip_ns = counters_.round_trip_ns == 0 ? trip : (7 * counters_.round_trip_ns + trip) / 8;
  if (trip > fastest_ns_) return;
  fastest_ns_ = trip;
  counters_.clock_offset_ns = static_cast<std::int64_t>(f.value - f.request) - trip / 2;
}

TAGMA_DECL void connection::answer_offer(const std::optional<error>& why) {
  moving_.answers(!why);
  const auto code = static_cast<std::uint16_t>(why ? why->code() : status_code::ok);
  if (!is_over()) out_.control({.type = frame_type::moved, .kind = code}, why ? sentence_of(*why) : "");
}

TAGMA_DECL void connection::moved(const frame& f) {
  if (!moving_.moved(f.kind == 0)) return violated("that it has moved to memory which it may not use");
  if (f.kind != 0) return;
  in_.take(in_.view().size());  // only wakes this end
  if (set_.which == side::connects) out_.control({.type = frame_type::moved});
}

TAGMA_DECL void connection::goodbye(std::int64_t now) {
  if (heard_goodbye_ || !arriving_.empty()) return violated("good-bye twice, or before the end of what it sends");
  heard_goodbye_ = true;
  while (calls_.any() != 0)
    fail_call(calls_.any(), error(status_code::unavailable, sentence({name(), " has closed the connection"})));
  if (is_over() || closing_) return;
  closing_ = true;
  close_by_ns_ = runtime::later(now, set_.how.patience.close_ns);
  guarded([&] { handler_.closing(self_); });
}

TAGMA_DECL void connection::settle(std::int64_t now) {
  if (stage_ != stage::open) return;
  for (const order& o : out_.take_too_long()) {
    const error why(status_code::invalid_argument,
                    sentence({name(), " takes bodies of ", meeting_.other().limits.body_bytes,
                              " bytes, and this one has ", o.message.body.size()}));
    if (o.message.attempt != nullptr) o.message.attempt->ended(std::make_exception_ptr(why));
    if ((o.flags & frame_wants_reply) != 0) fail_call(o.number, why);
    if (o.request == 0) guarded([&] { handler_.rejected(self_, o.message.kind, why); });
  }
  give_back(out_.take_given_back());
  want_buffers();
  if (granted_ - told_granted_ >= set_.how.limits.window_bytes / 4 && !TAGMA_BROKEN(credit_forgotten) &&
      !out_.has_control(frame_type::credit)) {
    told_granted_ = granted_;
    out_.control({.type = frame_type::credit, .value = granted_});
  }
  if (closing_ && !said_goodbye_ && out_.is_idle() && calls_.size() == 0) {
    said_goodbye_ = true;
    out_.control({.type = frame_type::goodbye});
  }
  tell_room();
  if (said_goodbye_ && heard_goodbye_ && out_.is_flushed()) return finish(nullptr);
  if (now >= close_by_ns_) {
    const error why(status_code::deadline_exceeded,
                    sentence({name(), " did not take what was queued within ", seconds_of(set_.how.patience.close_ns),
                              " after the connection was to be closed"}));
    refuse(why);
  }
}

TAGMA_DECL std::size_t connection::gather(std::span<std::span<const std::byte>> pieces, std::int64_t now) {
  settle(now);
  return out_.gather(pieces, now);
}

TAGMA_DECL void connection::sent(std::size_t n, std::int64_t now) {
  out_.sent(n);
  settle(now);
}

TAGMA_DECL std::int64_t connection::next_timer() const {
  if (is_over()) return INT64_MAX;
  const patience& p = set_.how.patience;
  std::int64_t next = std::min(calls_.next_deadline(), close_by_ns_);
  if (stage_ == stage::waits) return next;
  if (stage_ == stage::meets) return std::min(next, runtime::later(started_ns_, p.handshake_ns));
  if (!TAGMA_BROKEN(heartbeat_forgotten)) next = std::min(next, next_ping_ns_);
  return TAGMA_BROKEN(loss_not_seen) ? next : std::min(next, runtime::later(heard_ns_, p.lost_ns));
}

TAGMA_DECL void connection::advance(std::int64_t now) {
  if (is_over()) return;
  const patience& p = set_.how.patience;
  if (stage_ == stage::meets && now - started_ns_ >= p.handshake_ns)
    return refuse(error(status_code::unavailable,
                        sentence({name(), " did not finish the handshake within ", seconds_of(p.handshake_ns)})));
  // Who slept longer than anybody may be silent has heard nobody, and knows nothing of them.
  const std::int64_t due = next_timer();
  if (stage_ == stage::open && due < now - p.lost_ns / 2) heard_ns_ = std::max(heard_ns_, now - p.lost_ns / 2);
  if (stage_ == stage::open && now - heard_ns_ >= p.lost_ns && !TAGMA_BROKEN(loss_not_seen))
    return lost("nothing came for " + seconds_of(now - heard_ns_), now);
  while (const std::uint64_t number = calls_.late(now)) {
    fail_call(number, error(status_code::deadline_exceeded,
                            sentence({name(), " did not answer the call ", number, " in time"})));
    if (is_over()) return;
  }
  if (stage_ == stage::open && now >= next_ping_ns_ && !TAGMA_BROKEN(heartbeat_forgotten)) {
    next_ping_ns_ = runtime::later(now, p.heartbeat_ns);
    if (!out_.has_control(frame_type::ping))
      out_.control({.type = frame_type::ping, .value = static_cast<std::uint64_t>(now)});
  }
  settle(now);
}

TAGMA_DECL void connection::send(order what) {
  if (!has_said_goodbye()) return out_.queue(std::move(what));
  out_.room().leave(what.message.body.size());
  if (what.message.attempt == nullptr) return;
  const error why(status_code::unavailable, sentence({"the connection to ", name(), " is closed"}));
  what.message.attempt->ended(std::make_exception_ptr(why));
}

TAGMA_DECL void connection::start(order what, call& with) {
  const std::uint64_t number = what.number;
  const bool closed = has_said_goodbye() || heard_goodbye_, full = calls_.size() >= set_.how.limits.open_calls;
  if (!closed && !full) {
    calls_.start(number, with, what.deadline_ns);
    return out_.queue(std::move(what));
  }
  const error why = closed ? error(status_code::unavailable, sentence({"the connection to ", name(), " is closed"}))
                           : error(status_code::resource_exhausted,
                                   sentence({calls_.size(), " calls of ", name(), " have no answer yet"}));
  out_.room().leave(what.message.body.size());
  if (what.message.attempt != nullptr) what.message.attempt->ended(std::make_exception_ptr(why));
  guarded([&] { with.failed(why); });
}

TAGMA_DECL void connection::cancel(std::uint64_t number, std::int64_t now) {
  if (is_over()) return;
  const error why(status_code::cancelled, "it was cancelled");
  calls_.find(number) != nullptr ? fail_call(number, why) : out_.cancel(number, why);
  settle(now);
}

TAGMA_DECL void connection::discard(std::uint32_t transfer) {
  const auto at = arriving_.find(transfer);
  if (at == arriving_.end() || at->second.how == placement::kind::refuse) return;
  const error why(status_code::cancelled, "the receiver does not want it any more");
  const frame f = at->second.header;
  (f.flags & frame_is_reply) != 0 ? fail_call(f.request, why) : skip(transfer, why);
}

TAGMA_DECL void connection::fail_call(std::uint64_t number, const error& why) {
  const std::uint32_t transfer = calls_.transfer_of(number);
  call* const with = calls_.take(number);
  if (with == nullptr) return;
  out_.cancel(number, why);
  if (transfer != 0) skip(transfer, why);
  guarded([&] { with->failed(why); });
}

TAGMA_DECL void connection::close(std::int64_t now) {
  if (is_closing()) return;
  if (stage_ != stage::open)
    return abort(
        error(status_code::cancelled, sentence({"the connection to ", name(), " was closed before it was there"})));
  closing_ = true;
  close_by_ns_ = runtime::later(now, set_.how.patience.close_ns);
  settle(now);
}

TAGMA_DECL void connection::broken(std::string_view how, std::int64_t now) {
  if (is_over()) return;
  if (said_goodbye_ && heard_goodbye_) return finish(nullptr);
  if (stage_ == stage::open) return lost(how, now);
  const error why(status_code::unavailable, sentence({name(), " cannot be reached: ", how}));
  finish(&why);
}

TAGMA_DECL void connection::lost(std::string_view how, std::int64_t now) {
  const std::string contact = seconds_of(now - heard_ns_);
  const bool silent = how.starts_with("nothing came");
  const error why(status_code::unavailable,
                  silent ? sentence({name(), " was lost: ", how})
                         : sentence({name(), " was lost: ", how, "; the last contact was ", contact, " before"}));
  finish(&why);
}

TAGMA_DECL void connection::violated(std::string_view how) {
  refuse(error(status_code::data_loss, sentence({name(), " broke the protocol: it sent ", how})));
}

TAGMA_DECL void connection::refuse(const error& why) {
  if (is_over()) return;
  finish(&why);
  const auto code = static_cast<std::uint16_t>(why.code() == status_code::ok ? status_code::unknown : why.code());
  out_.control({.type = frame_type::refusal, .kind = code}, sentence_of(why).substr(0, 1024));
}

TAGMA_DECL void connection::finish(const error* why) {
  if (is_over()) return;
  stage_ = stage::over;
  const std::string text =
      why == nullptr ? sentence({"the connection to ", name(), " is closed"}) : std::string(sentence_of(*why));
  const error gone(status_code::unavailable, text);
  if (why != nullptr) counters_.last_error = text;
  chunk_ = {};
  out_.finish(gone);
  for (const auto& [transfer, a] : std::exchange(arriving_, {}))
    if (a.how != placement::kind::refuse && (a.header.flags & frame_is_reply) == 0)
      guarded([&, number = transfer] { handler_.abandoned(self_, number); });
  while (const std::uint64_t number = calls_.any()) {
    call* const with = calls_.take(number);
    guarded([&] { with->failed(gone); });
  }
  guarded([&] { why == nullptr ? handler_.closed(self_) : handler_.lost(self_, *why); });
}

TAGMA_DECL link_counters connection::counters() const {
  link_counters c = counters_;
  c.queued = out_.room().messages() + out_.transfers();
  c.open_calls = calls_.size();
  c.last_contact_ns = heard_ns_;
  c.shared_memory = receives_there() && sends_there();
  return c;
}

}  // namespace tagma::transport
