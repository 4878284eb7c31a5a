// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Numbers as bytes, the lowest first.

#include <cstddef>
#include <cstdint>

namespace tagma::io {

namespace detail {

/// A number of `Bytes` bytes, the lowest first.
template <std::size_t Bytes>
[[nodiscard]] constexpr std::uint64_t little_endian(const char* from) {
  std::uint64_t value = 0;
  for (std::size_t i = Bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}
template <std::size_t Bytes>
constexpr void put_little_endian(char* to, std::uint64_t value) {
  for (std::size_t i = 0; i < Bytes; ++i, value >>= 8) to[i] = static_cast<char>(value & 0xff);
}

}  // namespace detail

}  // namespace tagma::io
