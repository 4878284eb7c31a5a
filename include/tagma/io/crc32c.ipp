// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of crc32c.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/io/crc32c.hpp"

namespace tagma::io::detail {

TAGMA_DECL crc_tables::crc_tables(std::uint32_t polynomial) {
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t c = byte;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? polynomial : 0);
    of[0][byte] = c;
  }
  for (int place = 1; place < 8; ++place)
    for (std::uint32_t byte = 0; byte < 256; ++byte)
      of[place][byte] = (of[place - 1][byte] >> 8) ^ of[0][of[place - 1][byte] & 0xff];
}

TAGMA_DECL std::uint32_t extend_crc(const crc_tables& tables, std::uint32_t crc, const void* bytes, std::size_t size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  const auto& t = tables.of;
  for (; size >= 8; at += 8, size -= 8) {
    const std::uint32_t low = crc ^ (std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
                                     std::uint32_t{at[3]} << 24);
    crc = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^ t[4][low >> 24] ^ t[3][at[4]] ^
          t[2][at[5]] ^ t[1][at[6]] ^ t[0][at[7]];
  }
  for (; size > 0; ++at, --size) crc = (crc >> 8) ^ t[0][(crc ^ *at) & 0xff];
  return crc;
}

TAGMA_COLD TAGMA_DECL std::uint32_t crc32c_by_tables(std::uint32_t crc, const void* bytes, std::size_t size) {
  static const crc_tables tables(0x82f63b78u);
  return ~extend_crc(tables, ~crc, bytes, size);
}

TAGMA_COLD TAGMA_DECL std::uint32_t extend_crc32(std::uint32_t crc, const void* bytes, std::size_t size) {
  static const crc_tables tables(0xedb88320u);
  return ~extend_crc(tables, ~crc, bytes, size);
}

}  // namespace tagma::io::detail

namespace tagma::io {

TAGMA_DECL std::uint32_t extend_crc32c(std::uint32_t crc, const void* bytes, std::size_t size) {
#if defined(__SSE4_2__) && defined(__x86_64__)
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t state = ~crc;
  for (; size >= 8; at += 8, size -= 8) {
    unsigned long long word = 0;
    std::memcpy(&word, at, 8);
    state = __builtin_ia32_crc32di(state, word);
  }
  auto rest = static_cast<std::uint32_t>(state);
  for (; size > 0; ++at, --size) rest = __builtin_ia32_crc32qi(rest, *at);
  return ~rest;
#else
  return detail::crc32c_by_tables(crc, bytes, size);
#endif
}

TAGMA_DECL std::uint32_t crc32c(std::string_view bytes) { return extend_crc32c(0, bytes.data(), bytes.size()); }

}  // namespace tagma::io
