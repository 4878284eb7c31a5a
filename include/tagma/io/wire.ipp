// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of wire.hpp: in the compiled half, or else in each file that includes it.

#include <bit>

#include "tagma/base/config.hpp"
#include "tagma/io/wire.hpp"

namespace tagma::io::wire {

TAGMA_DECL void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

TAGMA_DECL void put_bytes(std::string& to, std::uint32_t number, std::string_view bytes) {
  put_varint(to, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type::bytes));
  put_varint(to, bytes.size());
  to.append(bytes);
}

TAGMA_DECL void put_integer(std::string& to, std::uint32_t number, std::int64_t value) {
  put_varint(to, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type::varint));
  put_varint(to, static_cast<std::uint64_t>(value));
}

TAGMA_DECL void put_double(std::string& to, std::uint32_t number, double value) {
  put_varint(to, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type::fixed64));
  to += bytes_of_double(value);
}

TAGMA_DECL std::string bytes_of_double(double value) {
  const auto word = std::bit_cast<std::uint64_t>(value);
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(word >> shift & 0xff);
  return bytes;
}

}  // namespace tagma::io::wire
