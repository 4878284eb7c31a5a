// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One end of a connection as a state machine. Bytes, readings of a clock and wishes go in; bytes, the next time at
/// which something is due, and calls of a handler come out. It knows neither sockets nor threads: a driver reads into
/// `receive_into` and says `received`, writes what `gather` gives and says `sent`, and says `advance` when `next_timer`
/// has come. For one thread.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/calls.hpp"
#include "tagma/transport/frame.hpp"
#include "tagma/transport/handshake.hpp"
#include "tagma/transport/inlet.hpp"
#include "tagma/transport/link.hpp"
#include "tagma/transport/moving.hpp"
#include "tagma/transport/options.hpp"
#include "tagma/transport/outbox.hpp"
#include "tagma/transport/sentences.hpp"

namespace tagma::transport {

class connection {
 public:
  /// What stays the same while a connection lives.
  struct setting {
    side which = side::connects;
    options how{};
    digest nonce{};       ///< random, of this connection alone
    std::string label{};  ///< how the other end is called until it has proven who it is, such as its address
    bool waits = false;   ///< there is no way to the other end yet: `begin` says when
    bool moves = false;   ///< whoever carries the bytes can share memory with the other end
  };

  /// The handler and the link outlive the connection.
  connection(setting s, handler& with, link& self, std::int64_t now);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  /// The handler of a connection that ends before it is over is not told.
  ~connection() = default;

  /// There is a way to the other end now: who connects says hello, and the time of the handshake begins.
  void begin(std::int64_t now);

  /// Whoever carries the bytes has seen the certificate of the other end, and that it is good. Before any byte came.
  void certified(certificate_names names) { meeting_.certified(std::move(names)); }
  /// The other end cannot be believed; it is told so, if anything can be.
  /// @param how such as "its certificate has expired", behind how it is called
  void distrust(status_code code, std::string_view how) {
    if (!is_over()) refuse(error(code, sentence({name(), ": ", how})));
  }

  /// @name Bytes
  /// @{
  /// Where the next bytes go. Never empty.
  [[nodiscard]] inlet_room receive_into();
  /// So many bytes were put there.
  void received(std::size_t n, std::int64_t now);
  /// Both, with a copy.
  void receive(std::string_view bytes, std::int64_t now);
  /// There will be no more bytes: the other end closed the stream, or it broke.
  /// @param how such as "it closed the connection"
  void broken(std::string_view how, std::int64_t now);
  /// The next bytes to send, in pieces that stay as they are until `sent`. How many there are; 0: none.
  [[nodiscard]] std::size_t gather(std::span<std::span<const std::byte>> pieces, std::int64_t now);
  void sent(std::size_t n, std::int64_t now);
  /// @}

  /// @name Another way for the bytes
  /// Who connects may offer memory, which the other end takes, or says why not; then each direction moves by itself.
  /// @{
  [[nodiscard]] bool can_offer() const { return is_open() && moving_.can_offer(); }
  /// @param where how the other end finds it, at most 256 bytes
  void offer(std::string_view where) {
    moving_.offers();
    out_.control({.type = frame_type::segment}, where);
  }
  /// There is nothing to offer.
  void stay() { moving_.answers(false); }
  /// What the other end has offered; once, to be answered.
  [[nodiscard]] std::optional<std::string> offered() { return moving_.take(); }
  /// @param why nullopt: this end has it
  void answer_offer(const std::optional<error>& why);
  /// It has come to nothing, or nothing was offered yet.
  [[nodiscard]] bool stays() const { return moving_.stays(); }
  /// What comes and what goes from now on is there. Until it does, `gather` gives nothing behind that word.
  [[nodiscard]] bool receives_there() const { return moving_.has_moved(); }
  [[nodiscard]] bool sends_there() const { return out_.has_moved(); }
  /// @}

  /// @name Time
  /// @{
  /// When `advance` is due.
  [[nodiscard]] std::int64_t next_timer() const;
  void advance(std::int64_t now);
  /// @}

  /// @name What a link is asked for
  /// @{
  /// Whose room was taken (`room`).
  void send(order what);
  void start(order what, call& with);
  void cancel(std::uint64_t number, std::int64_t now);
  void discard(std::uint32_t transfer);
  void consumed(const receipt& of) {
    if (!is_over()) give_back(of);
  }
  void close(std::int64_t now);
  void abort(const error& why) { refuse(why); }
  [[nodiscard]] send_room& room() { return out_.room(); }
  /// Says `writable`, where it is due.
  void tell_room() {
    if (!is_closing() && is_open() && out_.room().told()) guarded([&] { handler_.writable(self_); });
  }
  /// @}

  /// Nothing comes any more, and the handler knows. What `gather` still gives should be sent, if it can be soon.
  [[nodiscard]] bool is_over() const { return stage_ == stage::over; }
  [[nodiscard]] bool is_open() const { return stage_ == stage::open; }
  /// Takes no new messages; answers until it has said good-bye.
  [[nodiscard]] bool is_closing() const { return closing_ || is_over(); }
  [[nodiscard]] bool has_said_goodbye() const { return said_goodbye_ || is_over(); }
  /// The other end, when it has proven who it is.
  [[nodiscard]] const identity& peer() const { return peer_; }
  [[nodiscard]] link_counters counters() const;
  /// Memory that the connection has for what comes, in bytes.
  [[nodiscard]] std::size_t buffer_bytes() const { return in_.capacity() + buffered_; }
  /// What the other end may still send, in bytes.
  [[nodiscard]] std::uint64_t credit_left() const { return out_.credit_left(); }

 private:
  enum class stage : std::uint8_t { waits, meets, open, over };

  /// Bulk on its way here.
  struct arriving {
    frame header{};
    std::string body{};
    placement::kind how = placement::kind::refuse;  ///< refused: it is skipped
    std::byte* where = nullptr;
    std::vector<std::byte> buffer{};
    std::uint64_t offset = 0;
    std::int64_t deadline_ns = 0;
    receipt holds{};
    bool waits = false;  ///< was announced, and not asked for yet

    /// Room for `bytes`, which are some of those that are announced. Address space is asked for all of these at once,
    /// since pages that no byte has reached cost nothing; where there is none, the buffer grows with what comes.
    void make_room(std::size_t bytes) {
      try {
        buffer.reserve(header.value);
      } catch (const std::bad_alloc&) {
      }
      buffer.resize(bytes);
    }
  };
  /// The chunk whose bytes are next.
  struct chunk {
    std::uint32_t transfer = 0;
    std::size_t left = 0;
    std::uint32_t crc = 0, expected = 0;
    bool checked = true;
  };

  /// What is not possible is not said.
  [[nodiscard]] static setting able(setting s) {
    s.how.shared_memory = s.how.shared_memory && s.moves;
    return s;
  }

  void parse(std::int64_t now);
  void handle(const frame& f, std::string_view payload, std::int64_t now);
  void meet(const frame& f, std::string_view payload, std::int64_t now);
  void open(std::int64_t now);
  void message(const frame& f, std::string_view body, std::int64_t now);
  void answered(const frame& f, std::string_view body, std::int64_t now);
  void arrives(const frame& f, std::string_view body, call* with, std::int64_t now);
  [[nodiscard]] placement place_of(const arriving& a, call* with, std::int64_t now);
  void reject(arriving& a, const error& why);
  void begin_chunk(const frame& f);
  [[nodiscard]] std::span<std::byte> chunk_room();
  void chunk_came(const std::byte* bytes, std::size_t n, std::int64_t now);
  void complete(std::uint32_t transfer, std::int64_t now);
  void skip(std::uint32_t transfer, const error& why);
  void want_buffers();
  void dropped(std::uint32_t transfer);
  void rejected(const frame& f, std::string_view why);
  void moved(const frame& f);
  void pong(const frame& f, std::int64_t now);
  void goodbye(std::int64_t now);
  void lost(std::string_view how, std::int64_t now);
  void settle(std::int64_t now);

  void deliver(incoming& m, call* with);
  void give_back(const receipt& of) {
    granted_ += of.credit;
    buffered_ -= of.buffered < buffered_ ? of.buffered : buffered_;
  }
  void fail_call(std::uint64_t number, const error& why);
  void refuse(const error& why);
  void violated(std::string_view how);
  void finish(const error* why);
  [[nodiscard]] std::string name() const;
  [[nodiscard]] incoming incoming_of(const arriving& a, std::int64_t now) const;
  void threw(const char* what);
  template <class F>
  void guarded(const F& f) {
    try {
      f();
    } catch (const std::exception& e) {
      threw(e.what());
    }
  }

  setting set_;
  handler& handler_;
  link& self_;
  link_counters counters_{};
  outbox out_;
  inlet in_;
  calls calls_;
  std::map<std::uint32_t, arriving> arriving_;
  chunk chunk_{};
  stage stage_ = stage::waits;
  meeting meeting_;
  moving moving_{};
  identity peer_{};
  std::uint32_t last_transfer_ = 0;
  std::uint64_t granted_, told_granted_, used_ = 0, buffered_ = 0;
  std::int64_t started_ns_, heard_ns_, next_ping_ns_ = 0, close_by_ns_ = INT64_MAX, fastest_ns_ = INT64_MAX;
  bool known_ = false, closing_ = false, said_goodbye_ = false, heard_goodbye_ = false;
};

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/connection.ipp"
#endif
