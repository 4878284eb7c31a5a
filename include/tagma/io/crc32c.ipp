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

#if defined(__x86_64__)
/// What `lane` zeros behind a checksum do to it.
TAGMA_DECL crc_zeros::crc_zeros() {
  const std::string_view zeros("\0\0\0\0\0\0\0\0", 8);
  static const crc_tables tables(0x82f63b78u);
  for (std::uint32_t bit = 0; bit < 32; ++bit) {
    std::uint32_t crc = std::uint32_t{1} << bit;
    for (std::size_t i = 0; i < lane / 8; ++i) crc = extend_crc(tables, crc, zeros.data(), 8);
    const std::size_t place = bit / 8, first = std::size_t{1} << bit % 8;
    for (std::size_t i = 0; i < first; ++i) of[place][first + i] = of[place][i] ^ crc;
  }
}

/// The instruction takes three steps to answer and can begin one in each: so there are three lanes, which are put
/// together (Gopal, Ozturk, Guilford, Wolrich, Feghali, Dixon and Karakoyunlu, "Fast CRC computation for iSCSI
/// polynomial using CRC32 instruction", 2011).
[[gnu::target("sse4.2")]] TAGMA_DECL std::uint32_t crc32c_by_processor(std::uint32_t crc, const void* bytes,
                                                                       std::size_t size) {
  constexpr std::size_t lane = crc_zeros::lane;
  const auto* at = static_cast<const unsigned char*>(bytes);
  const auto word = [](const unsigned char* from) {
    unsigned long long w = 0;
    std::memcpy(&w, from, 8);
    return w;
  };
  unsigned long long state = static_cast<std::uint32_t>(~crc);
  if (size >= 3 * lane) {
    static const crc_zeros zeros;
    for (; size >= 3 * lane; at += 3 * lane, size -= 3 * lane) {
      unsigned long long second = 0, third = 0;
      for (std::size_t i = 0; i < lane; i += 8) {
        state = __builtin_ia32_crc32di(state, word(at + i));
        second = __builtin_ia32_crc32di(second, word(at + lane + i));
        third = __builtin_ia32_crc32di(third, word(at + 2 * lane + i));
      }
      state = zeros.behind(zeros.behind(static_cast<std::uint32_t>(state)) ^ static_cast<std::uint32_t>(second)) ^
              static_cast<std::uint32_t>(third);
    }
  }
  for (; size >= 8; at += 8, size -= 8) state = __builtin_ia32_crc32di(state, word(at));
  auto rest = static_cast<std::uint32_t>(state);
  for (; size > 0; ++at, --size) rest = __builtin_ia32_crc32qi(rest, *at);
  return ~rest;
}

#if defined(TAGMA_CARRYLESS)
TAGMA_COLD TAGMA_DECL bool has_vectors_for_crc() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("vpclmulqdq");
}

/// The remainder of x^n, bits reversed, one place further up, as a factor of `crc32c_by_vectors`.
TAGMA_COLD TAGMA_DECL long long crc_factor(int n) {
  std::uint32_t power = 0x80000000u;
  for (; n > 0; --n) power = (power >> 1) ^ ((power & 1) != 0 ? 0x82f63b78u : 0);
  return static_cast<long long>(std::uint64_t{power} << 1);
}

/// Each of four vectors goes on 256 bytes at a time: what lies there is added to the product of what it has by x^2048,
/// which has the same remainder (Gopal, Ozturk, Guilford, Wolrich, Feghali, Dixon and Karakoyunlu, "Fast CRC
/// computation for generic polynomials using PCLMULQDQ instruction", 2009). The bits of both halves of 16 bytes are
/// reversed, which takes 32 places more of the first and fewer of the second.
[[gnu::target("avx512f,avx512vl,vpclmulqdq,pclmul,sse4.2")]] TAGMA_DECL std::uint32_t crc32c_by_vectors(
    std::uint32_t crc, const void* bytes, std::size_t size) {
  using vector = long long __attribute__((vector_size(64)));
  constexpr int distance = 2048;
  static const long long first = crc_factor(distance + 32), second = crc_factor(distance - 32);
  const vector by{first, second, first, second, first, second, first, second};
  const auto* at = static_cast<const unsigned char*>(bytes);
  vector a, b, c, d, next;
  const vector start{static_cast<long long>(static_cast<std::uint32_t>(~crc))};
  __builtin_memcpy(&a, at, 64), __builtin_memcpy(&b, at + 64, 64);
  __builtin_memcpy(&c, at + 128, 64), __builtin_memcpy(&d, at + 192, 64);
  a = a ^ start;
  for (at += 256, size -= 256; size >= 256; at += 256, size -= 256) {
    __builtin_memcpy(&next, at, 64);
    a = TAGMA_CARRYLESS(a, by, 0x00) ^ TAGMA_CARRYLESS(a, by, 0x11) ^ next;
    __builtin_memcpy(&next, at + 64, 64);
    b = TAGMA_CARRYLESS(b, by, 0x00) ^ TAGMA_CARRYLESS(b, by, 0x11) ^ next;
    __builtin_memcpy(&next, at + 128, 64);
    c = TAGMA_CARRYLESS(c, by, 0x00) ^ TAGMA_CARRYLESS(c, by, 0x11) ^ next;
    __builtin_memcpy(&next, at + 192, 64);
    d = TAGMA_CARRYLESS(d, by, 0x00) ^ TAGMA_CARRYLESS(d, by, 0x11) ^ next;
  }
  const vector all[] = {a, b, c, d};
  unsigned long long state = 0;
  for (const vector& v : all)
    for (int i = 0; i < 8; ++i) state = __builtin_ia32_crc32di(state, static_cast<unsigned long long>(v[i]));
  return crc32c_by_processor(~static_cast<std::uint32_t>(state), at, size);
}
#else
TAGMA_COLD TAGMA_DECL bool has_vectors_for_crc() { return false; }
TAGMA_COLD TAGMA_DECL std::uint32_t crc32c_by_vectors(std::uint32_t crc, const void* bytes, std::size_t size) {
  return crc32c_by_processor(crc, bytes, size);
}
#endif
#endif

}  // namespace tagma::io::detail

namespace tagma::io {

TAGMA_DECL std::uint32_t extend_crc32c(std::uint32_t crc, const void* bytes, std::size_t size) {
#if defined(__x86_64__)
  static const bool has_vectors = detail::has_vectors_for_crc();
  if (has_vectors && size >= detail::least_for_vectors) return detail::crc32c_by_vectors(crc, bytes, size);
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return detail::crc32c_by_processor(crc, bytes, size);
#endif
  return detail::crc32c_by_tables(crc, bytes, size);
}

TAGMA_DECL std::uint32_t crc32c(std::string_view bytes) { return extend_crc32c(0, bytes.data(), bytes.size()); }

}  // namespace tagma::io
