// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What services hold of a connection to another process: they send messages, and a handler of theirs is told of what
/// comes. Whatever carries the bytes, sockets, memory or a simulation, is behind it.
///
/// A message is a kind, a number, a small body and, if it has any, bulk bytes. Bulk is sent from where it is and goes
/// to where the receiver wants it: `place` is asked before the first byte is there. Messages are announced (by `place`
/// if they have bulk, by `received` if not) in the order in which they were sent; one with bulk is received when all of
/// it is there, and others may overtake it.
///
/// Threads: any thread may call the functions of a link. Handlers, calls and attempts are called by the thread of the
/// network alone, one at a time; they return soon, may call the functions of links, and throw nothing unless it is
/// said.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma::transport {

class link;

/// What an end may ask for: more from value to value.
enum class authority : std::uint8_t {
  worker,  ///< what training needs
  chief    ///< also what concerns others: to reset, to save, to restore
};

/// Who a process is. Both ends tell each other when they meet; with a secret, what they say is proven.
struct identity {
  std::string job{};                 ///< such as "worker"; of at most 64 bytes
  std::int32_t task = 0;             ///< its number in the job
  std::string role{};                ///< what it is for, such as "server" or "client"; of at most 64 bytes
  std::string cluster{};             ///< name or fingerprint of the cluster; equal at both ends; of at most 255 bytes
  std::uint64_t incarnation = 0;     ///< random, drawn when the process starts; another one after a restart
  std::string library{};             ///< version of the library; empty: this one's
  authority may = authority::chief;  ///< not said but proven: what the connection makes of certificates and secrets

  friend bool operator==(const identity&, const identity&) = default;
};

/// "/job:ps/task:1".
[[nodiscard]] std::string to_string(const identity& who);

/// What a message holds of its connection until it is consumed.
struct receipt {
  std::uint64_t credit = 0;    ///< bytes that the other end may send again
  std::uint64_t buffered = 0;  ///< bytes of `limits::buffered_bytes`
};

/// A message that comes. What it points to lives until the function returns that it is given to.
struct incoming {
  std::uint16_t kind = 0;         ///< what the services have agreed on
  std::uint64_t request = 0;      ///< the number of the call that it begins or answers; 0: of none
  bool wants_reply = false;       ///< it begins a call
  std::int64_t time_left_ns = 0;  ///< of a call, when the message came; what is over then nobody waits for
  std::string_view body{};
  std::uint64_t bulk_size = 0;
  std::uint32_t transfer = 0;       ///< names the bulk, for `link::discard`; 0 if there is none
  std::span<std::byte> bulk{};      ///< in `received` and `replied`: all of it, where it was placed
  std::vector<std::byte> buffer{};  ///< the bulk itself where the connection was asked to buffer it; may be moved away
  transport::receipt receipt{};     ///< for `link::consumed`, where `held` is set
  bool held = false;                ///< set by who keeps it beyond the function: until `link::consumed`, it counts
};

/// Where bulk goes.
class placement {
 public:
  enum class kind : std::uint8_t { at, buffer, refuse };

  /// To an address with room for all of it, which stays until the message was received or abandoned.
  [[nodiscard]] static placement at(std::byte* where) { return {kind::at, where, {}}; }
  /// Into memory of the connection, which grows as bytes come: `incoming::buffer`. What exceeds the limit of the
  /// connection is refused.
  [[nodiscard]] static placement buffered() { return {kind::buffer, nullptr, {}}; }
  /// Nowhere: it is skipped, and the sender is told.
  [[nodiscard]] static placement refused(error why) { return {kind::refuse, nullptr, std::move(why)}; }

  [[nodiscard]] kind what() const { return what_; }
  [[nodiscard]] std::byte* where() const { return where_; }
  [[nodiscard]] const std::optional<error>& why() const { return why_; }

 private:
  placement(kind what, std::byte* where, std::optional<error> why) : what_(what), where_(where), why_(std::move(why)) {}

  kind what_;
  std::byte* where_;
  std::optional<error> why_;
};

/// Bulk on its way out, whose bytes stay as they are until the attempt has ended.
class send_attempt {
 public:
  /// Called once: the bytes are not needed any more.
  /// @param error nullptr if all of them were handed over; that does not say that they have arrived
  virtual void ended(std::exception_ptr error) noexcept = 0;

 protected:
  ~send_attempt() = default;
};

/// A message that is to be sent.
struct outgoing {
  std::uint16_t kind = 0;
  std::string body{};                 ///< at most as long as the other end takes: `limits::body_bytes`
  std::span<const std::byte> bulk{};  ///< sent from where it is
  send_attempt* attempt = nullptr;    ///< told when the bulk is free; without one, it is free when the link has ended
};

/// A question to the other process, which lives until it has ended.
class call {
 public:
  /// Where the bulk of the answer goes. What is thrown refuses it, and ends the call with it.
  [[nodiscard]] virtual placement place(const incoming& reply) {
    (void)reply;
    return placement::buffered();
  }
  /// The answer. Called once, unless `failed` is.
  virtual void replied(incoming& reply) noexcept = 0;
  /// There will be none: the other process answered with an error, its time is over (`deadline_exceeded`), it was
  /// cancelled (`cancelled`), or the link is lost (`unavailable`). In the last three, what the other process has done
  /// is not known. Called once, unless `replied` is.
  virtual void failed(const error& why) noexcept = 0;

 protected:
  ~call() = default;
};

/// What a service makes of a connection.
class handler {
 public:
  virtual ~handler() = default;

  /// The other end has proven who it is. What is returned refuses it, and is told to it.
  [[nodiscard]] virtual std::optional<error> admit(const identity& peer) {
    (void)peer;
    return std::nullopt;
  }
  /// Messages can be sent and will come.
  virtual void connected(link& with) { (void)with; }
  /// Where the bulk of a message goes. What is thrown refuses it.
  [[nodiscard]] virtual placement place(link& from, const incoming& message) {
    (void)from, (void)message;
    return placement::refused(error(status_code::unimplemented, "nobody takes bulk bytes here"));
  }
  /// A message that answers no call of this end.
  virtual void received(link& from, incoming& message) = 0;
  /// A message that was placed does not come to its end: the sender gave it up, `link::discard` was called, it is more
  /// than the connection buffers, or the link is lost. Its place is not touched any more.
  virtual void abandoned(link& from, std::uint32_t transfer) { (void)from, (void)transfer; }
  /// The other end refused the bulk of a message that was sent with `link::send`.
  virtual void rejected(link& by, std::uint16_t kind, const error& why) { (void)by, (void)kind, (void)why; }
  /// After `send_status::full`: there is room again.
  virtual void writable(link& with) { (void)with; }
  /// The other end begins no calls any more and closes when what is queued is sent.
  virtual void closing(link& with) { (void)with; }
  /// Both ends have closed, and all that was queued was sent. The last call, unless `lost` is.
  virtual void closed(link& with) { (void)with; }
  /// The connection is over, or did not come about: `unavailable` if the other process is not there any more, with the
  /// time of the last contact; `permission_denied`, `failed_precondition`, ... if it was refused; `data_loss` if bytes
  /// are damaged. All calls have ended before. The last call, unless `closed` is.
  virtual void lost(link& with, const error& why) { (void)with, (void)why; }
};

/// What becomes of a message.
enum class send_status : std::uint8_t {
  taken,   ///< it is queued, or sent
  full,    ///< too much is queued: nothing was taken; `handler::writable` comes
  closed,  ///< the link is over, or closes: nothing was taken
};

/// The answer of `link::send` and `link::start`.
struct send_result {
  send_status status = send_status::closed;
  std::uint64_t number = 0;  ///< for `link::cancel`; of a call, its number on the wire

  [[nodiscard]] explicit operator bool() const { return status == send_status::taken; }
};

/// What a connection has seen.
struct link_counters {
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t frames_sent = 0, frames_received = 0;
  std::uint64_t messages_sent = 0, messages_received = 0;
  std::uint64_t bulk_sent = 0, bulk_received = 0;  ///< bytes
  std::uint64_t queued = 0;                        ///< messages that wait, those whose bulk is on its way included
  std::uint64_t open_calls = 0;
  bool shared_memory = false;        ///< bytes go both ways through memory that the ends share
  std::int64_t round_trip_ns = 0;    ///< smoothed; 0: not known yet
  std::int64_t clock_offset_ns = 0;  ///< the other end's clock less this one's, from the fastest round trip
  std::int64_t last_contact_ns = 0;  ///< on the clock of the network
  std::string last_error{};
};

/// One end of a connection: `transport::link`, since the system has a function of that name. Services keep it by
/// `std::shared_ptr` and use it as long as they like: after its end, it takes nothing any more.
class link {
 public:
  virtual ~link() = default;
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  /// Sends a message that is no call and no answer. Throws `invalid_argument` for a body that is longer than the limit.
  virtual send_result send(outgoing message) = 0;
  /// Sends a message that is to be answered within `timeout_ns` (above 0), counted from now.
  virtual send_result start(outgoing message, std::int64_t timeout_ns, call& with) = 0;
  /// Answers a call of the other end. Bulk needs no credit, since it was asked for.
  /// @param request `incoming::request`
  virtual send_result reply(std::uint64_t request, outgoing message) = 0;
  /// Answers a call of the other end with an error: code and sentence.
  virtual send_result fail(std::uint64_t request, const error& why) = 0;
  /// Ends a call or the sending of bulk, with `cancelled`, unless it has ended. It ends soon, not at once.
  virtual void cancel(std::uint64_t number) = 0;
  /// Skips what is still to come of a message that was placed, or of the answer to a call: then `abandoned`, or
  /// `failed`, is called soon.
  virtual void discard(std::uint32_t transfer) = 0;
  /// A message that was held is done with: its sender may send as much again.
  virtual void consumed(const receipt& of) = 0;
  /// Sends what is queued and waits for the answers of open calls, then says good-bye; begins nothing new, but answers
  /// calls until then.
  virtual void close() = 0;
  /// Ends the connection at once, with this error.
  virtual void abort(error why) = 0;

  /// Who the other end is; empty until `connected`.
  [[nodiscard]] virtual identity peer() const = 0;
  [[nodiscard]] virtual link_counters counters() const = 0;

 protected:
  link() = default;
};

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/link.ipp"
#endif
