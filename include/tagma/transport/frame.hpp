// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Frames: a header of 48 bytes, and a payload. docs/wire.md has them byte by byte.
///
/// A header is checked field by field before anything is made of it, so that no number of the other end decides what is
/// allocated.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/options.hpp"

namespace tagma::transport {

inline constexpr std::size_t frame_header_bytes = 48;
inline constexpr std::uint32_t frame_magic = 0x316d6774u;  ///< "tgm1"

/// The version of frames and of all that they say. Ends tell each other the lowest and the highest that they know.
inline constexpr std::uint8_t protocol_version = 1;
inline constexpr std::uint8_t oldest_protocol_version = 1;

/// No handshake takes more bytes of one end than this, headers included.
inline constexpr std::size_t handshake_bytes = 4096;

enum class frame_type : std::uint8_t {
  hello = 1,     ///< who connects
  answer = 2,    ///< who was connected to
  proof = 3,     ///< that the one who connects knows the secret
  accepted = 4,  ///< and that the other does
  refusal = 5,   ///< why the connection ends now: `kind` is a status code, the payload a sentence

  message = 16,  ///< the payload is the body
  chunk = 17,    ///< bulk bytes of a transfer
  want = 18,     ///< the bulk of a message that was only announced can come
  reject = 19,   ///< the bulk is not wanted: a status code, a sentence, and the kind of the message as `value`
  drop = 20,     ///< no more bulk comes, since the sender gave it up
  credit = 21,   ///< how many bytes the other end may have sent, from the beginning
  ping = 22,     ///< a reading of the sender's clock
  pong = 23,     ///< that reading, and one of the other clock
  goodbye = 24,  ///< no messages come behind this
  segment = 25,  ///< memory that both ends could share, and where it is
  moved = 26,    ///< what its sender says from now on is there; or `kind`, a status code, and a sentence: why not
};

/// Flags of a message. Those of the upper byte are critical: who does not know one refuses the frame.
enum frame_flags : std::uint16_t {
  frame_wants_reply = 0x0100,  ///< it begins a call
  frame_is_reply = 0x0200,     ///< it answers one
  frame_is_error = 0x0400,     ///< an answer that is an error: `kind` is a status code, the body a sentence
  frame_announced = 0x0800,    ///< its bulk comes when the other end wants it
  frame_unchecked = 0x1000,    ///< a chunk without a checksum
};

/// What a header says.
struct frame {
  frame_type type = frame_type::ping;
  std::uint16_t flags = 0;
  std::uint32_t length = 0;       ///< bytes of the payload
  std::uint32_t payload_crc = 0;  ///< CRC-32C of the payload; 0 if it has none
  std::uint16_t kind = 0;
  std::uint32_t transfer = 0;
  std::uint64_t request = 0;
  std::uint64_t value = 0;         ///< size of bulk, offset of a chunk, credit, a clock, a kind
  std::uint32_t time_left_ms = 0;  ///< of a call

  friend bool operator==(const frame&, const frame&) = default;
};

using frame_bytes = std::array<std::byte, frame_header_bytes>;

[[nodiscard]] frame_bytes encode(const frame& f);

/// What has become of bytes that may be a frame's header.
enum class frame_verdict : std::uint8_t { good, more, bad };

/// A header, or the reason why there is none.
struct decoded_frame {
  frame_verdict verdict = frame_verdict::more;
  frame header{};
  std::string_view reason{};
};

/// Reads a header from the beginning of bytes: `more` for whatever is the beginning of a good one.
/// @param most the longest payload by type: the handshake's, bodies, chunks
[[nodiscard]] decoded_frame decode_frame(std::string_view bytes, const limits& most);

/// Numbers as they are in frames: with the lowest byte first.
/// @{
template <class Number>
void put_number(std::string& to, Number n) {
  for (std::size_t i = 0; i < sizeof n; ++i) to += static_cast<char>(n >> (8 * i) & 0xff);
}
template <class Number>
[[nodiscard]] constexpr Number get_number(const char* from) {
  std::uint64_t n = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) n = n << 8 | static_cast<unsigned char>(from[i]);
  return static_cast<Number>(n);
}
/// @}

namespace detail {

/// What a type of frame may have besides its payload; all other fields are 0.
struct frame_form {
  bool known = false;
  std::uint16_t flags = 0;
  bool kind = false, transfer = false, request = false, value = false, time_left = false;
};

[[nodiscard]] constexpr frame_form form_of(frame_type type) {
  constexpr std::uint16_t of_messages = frame_wants_reply | frame_is_reply | frame_is_error | frame_announced;
  switch (type) {
    case frame_type::hello:
    case frame_type::answer:
    case frame_type::proof:
    case frame_type::accepted:
    case frame_type::goodbye:
    case frame_type::segment:
      return {.known = true};
    case frame_type::refusal:
    case frame_type::moved:
      return {.known = true, .kind = true};
    case frame_type::message:
      return {true, of_messages, true, true, true, true, true};
    case frame_type::chunk:
      return {.known = true, .flags = frame_unchecked, .transfer = true, .value = true};
    case frame_type::want:
    case frame_type::drop:
      return {.known = true, .transfer = true};
    case frame_type::reject:
      return {true, frame_is_reply, true, true, true, true, false};
    case frame_type::credit:
    case frame_type::ping:
      return {.known = true, .value = true};
    case frame_type::pong:
      return {.known = true, .request = true, .value = true};
  }
  return {};
}

template <class Number>
void put_at(frame_bytes& to, std::size_t at, Number n) {
  for (std::size_t i = 0; i < sizeof n; ++i) to[at + i] = static_cast<std::byte>(n >> (8 * i) & 0xff);
}

}  // namespace detail

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/frame.ipp"
#endif
