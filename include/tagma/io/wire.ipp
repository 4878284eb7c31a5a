// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of wire.hpp: in the compiled half, or else in each file that includes it.

#include <bit>
#include <cstddef>

#include "tagma/base/config.hpp"
#include "tagma/io/little_endian.hpp"
#include "tagma/io/wire.hpp"

namespace tagma::io::wire {

TAGMA_DECL void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

namespace detail {

/// What stands before a value.
TAGMA_DECL void put_tag(std::string& to, std::uint32_t number, wire::type type) {
  put_varint(to, std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}
/// The lowest bytes of a number.
TAGMA_DECL void put_fixed(std::string& to, std::uint64_t word, std::size_t count) {
  char bytes[8];
  io::detail::put_little_endian<8>(bytes, word);
  to.append(bytes, count);
}

}  // namespace detail

TAGMA_DECL void put_bytes(std::string& to, std::uint32_t number, std::string_view bytes) {
  detail::put_tag(to, number, type::bytes);
  put_varint(to, bytes.size());
  to.append(bytes);
}

TAGMA_DECL void put_integer(std::string& to, std::uint32_t number, std::int64_t value) {
  detail::put_tag(to, number, type::varint);
  put_varint(to, static_cast<std::uint64_t>(value));
}

TAGMA_DECL void put_float(std::string& to, std::uint32_t number, float value) {
  detail::put_tag(to, number, type::fixed32);
  detail::put_fixed(to, std::bit_cast<std::uint32_t>(value), 4);
}

TAGMA_DECL void put_double(std::string& to, std::uint32_t number, double value) {
  detail::put_tag(to, number, type::fixed64);
  to += bytes_of_double(value);
}

TAGMA_DECL std::string bytes_of_double(double value) {
  std::string bytes;
  detail::put_fixed(bytes, std::bit_cast<std::uint64_t>(value), 8);
  return bytes;
}

}  // namespace tagma::io::wire
