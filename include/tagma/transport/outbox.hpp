// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The sending half of a connection: what is queued, what may go, in which order, and where its bytes are.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/frame.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::transport {

/// How much of the queue of a connection is used. For several threads.
class send_room {
 public:
  send_room(std::size_t messages, std::size_t bytes) : most_messages_(messages), most_bytes_(bytes) {}

  /// Takes room for a message; false if there is none, of which somebody is told later.
  [[nodiscard]] bool take(std::size_t body);
  void leave(std::size_t body);
  /// Whether somebody was refused and there is room again; true once for each time.
  [[nodiscard]] bool told();
  [[nodiscard]] std::size_t messages() const { return messages_.load(); }

 private:
  [[nodiscard]] bool is_full() const { return messages_.load() >= most_messages_ || bytes_.load() >= most_bytes_; }

  std::size_t most_messages_, most_bytes_;
  atomic<std::size_t> messages_{0}, bytes_{0};
  atomic<bool> refused_{false};
};

/// What a link was asked to send.
struct order {
  outgoing message{};
  std::uint64_t number = 0;      ///< by which it is cancelled
  std::uint64_t request = 0;     ///< of a call or an answer
  std::uint16_t flags = 0;       ///< of its frame
  std::int64_t deadline_ns = 0;  ///< of a call
};

/// Bulk that the other end has refused, or that was cancelled.
struct withdrawn {
  std::uint64_t number = 0;
  std::uint64_t request = 0;
  std::uint16_t flags = 0;
};

class outbox {
 public:
  outbox(const limits& own, link_counters& counters);

  /// From now on messages can go, as far as the other end takes them.
  void open(const limits& theirs, bool checksums);
  /// A frame that goes before all messages.
  /// @param gives_back what a message that the frame is about has used, and gets back when the frame goes
  void control(frame f, std::string_view payload = {}, const receipt& gives_back = {});
  /// Whether a frame of this type has not begun to go.
  [[nodiscard]] bool has_control(frame_type type) const;
  /// A message, whose room was taken.
  void queue(order what) { queue_.push_back(std::move(what)); }
  /// The other end may have sent so much from the beginning. False if that is less than before.
  [[nodiscard]] bool credit(std::uint64_t total);
  /// The other end wants bulk that was announced. False if it was not.
  [[nodiscard]] bool want(std::uint32_t number);
  /// The other end does not want bulk, or this one takes it back. Nothing if all of it has gone.
  std::optional<withdrawn> withdraw(std::uint32_t number, const error& why);
  /// Takes back a message, as far as it has not gone.
  void cancel(std::uint64_t number, const error& why);

  /// The next bytes, in pieces that stay until they were sent.
  /// @returns how many pieces
  [[nodiscard]] std::size_t gather(std::span<std::span<const std::byte>> pieces, std::int64_t now);
  /// So many of them were taken.
  void sent(std::size_t bytes);
  /// `moved` was sent: the next bytes go the other way. Until then there are none behind it.
  [[nodiscard]] bool has_moved() const { return moved_; }
  /// Nothing waits to be sent: no message, no bulk.
  [[nodiscard]] bool is_idle() const { return queue_.empty() && transfers_.empty(); }
  /// All frames have gone.
  [[nodiscard]] bool is_flushed() const { return pieces_.empty() && control_.empty(); }
  /// Ends all that waits. Of what has begun to go, the frame is finished.
  void finish(const error& why);
  /// What messages that frames of `control` were about have used; once.
  [[nodiscard]] receipt take_given_back();
  /// Messages that could not go, since the other end takes no body of that length.
  [[nodiscard]] std::deque<order> take_too_long() { return std::exchange(too_long_, {}); }

  [[nodiscard]] send_room& room() { return room_; }
  [[nodiscard]] const send_room& room() const { return room_; }
  [[nodiscard]] std::size_t transfers() const { return transfers_.size(); }
  /// What of the credit is left, in bytes.
  [[nodiscard]] std::uint64_t credit_left() const { return credit_ - used_; }

 private:
  /// Bulk on its way.
  struct transfer {
    std::span<const std::byte> bulk{};
    std::size_t offset = 0;
    send_attempt* attempt = nullptr;
    withdrawn of{};
    bool announced = false;  ///< and not wanted yet
  };
  /// A frame: its header and what is the connection's own, then bulk.
  struct piece {
    std::string own{};
    std::span<const std::byte> bulk{};
    std::uint32_t transfer = 0;
    bool last = false;  ///< of the transfer
    receipt gives_back{};
    bool moves = false;  ///< what is behind it goes another way
  };

  void push(piece&& p);
  void fill(std::int64_t now);
  [[nodiscard]] bool message_can_go();
  void push_message(std::int64_t now);
  void push_chunk();
  void keep(piece& p);
  static void end(send_attempt* attempt, std::exception_ptr why);

  limits own_, theirs_{};
  link_counters& counters_;
  send_room room_;
  bool open_ = false, checksums_ = true, messages_turn_ = true, moved_ = false;
  std::deque<piece> control_, pieces_;
  std::size_t begun_ = 0, ready_bytes_ = 0;  // of the first piece; of all
  std::deque<order> queue_, too_long_;
  std::map<std::uint32_t, transfer> transfers_;
  std::deque<std::uint32_t> turns_;  // transfers that have bytes to send
  std::uint32_t last_transfer_ = 0;
  std::uint64_t credit_ = 0, used_ = 0;
  receipt given_back_{};
};

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/outbox.ipp"
#endif
