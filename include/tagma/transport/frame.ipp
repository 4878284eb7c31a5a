// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of frame.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/transport/broken.hpp"
#include "tagma/transport/frame.hpp"

namespace tagma::transport {

namespace detail {

/// The longest payload of a type.
[[nodiscard]] TAGMA_DECL constexpr std::uint32_t longest(frame_type type, const limits& most) {
  switch (type) {
    case frame_type::hello:
    case frame_type::answer:
      return 2048;
    case frame_type::proof:
    case frame_type::accepted:
      return 32;
    case frame_type::segment:
      return 256;
    case frame_type::refusal:
    case frame_type::reject:
    case frame_type::moved:
      return 1024;
    case frame_type::message:
      return most.body_bytes;
    case frame_type::chunk:
      return most.chunk_bytes;
    default:
      return 0;
  }
}

/// Why the fields of a header are none; empty if they are good.
[[nodiscard]] TAGMA_DECL std::string_view wrong_with(const frame& f, std::uint16_t zero, const limits& most) {
  const frame_form form = form_of(f.type);
  if (!form.known) return "a frame of an unknown type";
  if ((f.flags & 0xff00u & ~form.flags) != 0 && !TAGMA_BROKEN(flags_not_checked))
    return "a frame with a critical flag that is not known";
  if (f.length > longest(f.type, most)) return "a frame that is longer than its type may be";
  if (zero != 0) return "a frame with a reserved field that is not 0";
  if (f.kind != 0 && !form.kind) return "a frame with a kind that its type has not";
  if ((f.kind > 15 || f.kind == 0) && (f.type == frame_type::refusal || f.type == frame_type::reject))
    return "a frame with an unknown status code";
  if (f.type == frame_type::moved && (f.kind > 15 || (f.kind == 0) != (f.length == 0)))
    return "a frame with an unknown status code, or with one and no reason";
  if (f.transfer != 0 && !form.transfer) return "a frame with a transfer that its type has not";
  if (f.request != 0 && !form.request) return "a frame with a request that its type has not";
  if (f.value != 0 && !form.value) return "a frame with a value that its type has not";
  if (f.time_left_ms != 0 && !form.time_left) return "a frame with a deadline that its type has not";
  if (f.length == 0 && f.payload_crc != 0) return "a frame with a checksum of nothing";
  if (f.transfer == 0 && form.transfer && f.type != frame_type::message) return "a frame that names no transfer";
  if (f.type == frame_type::chunk && f.length == 0) return "a chunk without bytes";
  if (f.type != frame_type::message) return {};
  const bool wants = (f.flags & frame_wants_reply) != 0, is = (f.flags & frame_is_reply) != 0;
  if (wants && is) return "a message that is both call and answer";
  if ((wants || is) != (f.request != 0)) return "a message with a request that is no call, or a call without one";
  if ((f.time_left_ms != 0) != wants) return "a message with a deadline that is no call, or a call without one";
  if ((f.value != 0) != (f.transfer != 0)) return "a message with bulk and no transfer, or a transfer without bulk";
  if (f.value > most.bulk_bytes) return "a message with more bulk than is taken";
  if ((f.flags & frame_announced) != 0 && (f.value == 0 || is)) return "a message that announces what it has not";
  if ((f.flags & frame_is_error) != 0 && (!is || f.kind == 0 || f.kind > 15 || f.value != 0))
    return "an error that is no answer, or has an unknown status code";
  return {};
}

/// A record of a handshake of TLS.
[[nodiscard]] TAGMA_DECL bool begins_tls(std::string_view bytes) {
  return bytes.size() > 1 && bytes[0] == 0x16 && bytes[1] == 0x03;
}

}  // namespace detail

TAGMA_DECL frame_bytes encode(const frame& f) {
  frame_bytes b{};
  detail::put_at(b, 0, frame_magic);
  detail::put_at(b, 4, protocol_version);
  detail::put_at(b, 5, static_cast<std::uint8_t>(f.type));
  detail::put_at(b, 6, f.flags);
  detail::put_at(b, 8, f.length);
  detail::put_at(b, 12, f.payload_crc);
  detail::put_at(b, 16, f.kind);
  detail::put_at(b, 20, f.transfer);
  detail::put_at(b, 24, f.request);
  detail::put_at(b, 32, f.value);
  detail::put_at(b, 40, f.time_left_ms);
  detail::put_at(b, 44, io::extend_crc32c(0, b.data(), 44));
  return b;
}

TAGMA_DECL decoded_frame decode_frame(std::string_view bytes, const limits& most) {
  constexpr char begins[] = {'t', 'g', 'm', '1'};
  const auto bad = [](std::string_view reason) { return decoded_frame{frame_verdict::bad, {}, reason}; };
  if (bytes.empty()) return {};
  if (std::memcmp(bytes.data(), begins, std::min<std::size_t>(bytes.size(), 4)) != 0)
    return bad(detail::begins_tls(bytes) ? "the beginning of TLS, which this end has no certificate for"
                                         : "bytes that are no frame of tagma");
  // The version is checked only in whole headers: the handshake names it.
  if (bytes.size() < frame_header_bytes) return {};
  const char* at = bytes.data();
  if (get_number<std::uint32_t>(at + 44) != io::extend_crc32c(0, at, 44)) return bad("a frame with a wrong checksum");
  const auto version = get_number<std::uint8_t>(at + 4);
  if (version < oldest_protocol_version || version > protocol_version)
    return bad("a frame of another version of the protocol");
  const frame f{static_cast<frame_type>(get_number<std::uint8_t>(at + 5)),
                get_number<std::uint16_t>(at + 6),
                get_number<std::uint32_t>(at + 8),
                get_number<std::uint32_t>(at + 12),
                get_number<std::uint16_t>(at + 16),
                get_number<std::uint32_t>(at + 20),
                get_number<std::uint64_t>(at + 24),
                get_number<std::uint64_t>(at + 32),
                get_number<std::uint32_t>(at + 40)};
  const std::string_view reason = detail::wrong_with(f, get_number<std::uint16_t>(at + 18), most);
  return reason.empty() ? decoded_frame{frame_verdict::good, f, {}} : bad(reason);
}

}  // namespace tagma::transport
