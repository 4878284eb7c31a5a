// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of wire.hpp: in the compiled half, or else in each file that includes it.

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

}  // namespace tagma::io::wire
