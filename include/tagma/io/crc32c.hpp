// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// CRC-32C, the checksum of TFRecord files: the polynomial of Castagnoli, Bräuer and Herrmann, "Optimization of cyclic
/// redundancy-check codes with 24 and 32 parity bits" (1993). Eight bytes at a time by tables (Kounavis and Berry, "A
/// systematic approach to building high performance, software-based, CRC generators", 2005), by the instruction of
/// processors with SSE4.2, or by products of vectors on those with AVX-512 and VPCLMULQDQ.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tagma/base/config.hpp"

namespace tagma::io {

namespace detail {

/// What eight bytes do to a checksum, each by its place; `polynomial` with its bits reversed.
struct crc_tables {
  std::uint32_t of[8][256]{};

  explicit crc_tables(std::uint32_t polynomial);
};

/// Goes on with the checksum `crc`, whose bits are inverted.
[[nodiscard]] std::uint32_t extend_crc(const crc_tables& tables, std::uint32_t crc, const void* bytes,
                                       std::size_t size);

/// CRC-32C by tables.
[[nodiscard]] std::uint32_t crc32c_by_tables(std::uint32_t crc, const void* bytes, std::size_t size);

#if defined(__x86_64__)
/// What a number of zeros behind bytes does to the inverted bits of their checksum.
struct crc_zeros {
  static constexpr std::size_t lane = 1024;  ///< that number
  std::uint32_t of[4][256]{};

  crc_zeros();
  [[nodiscard]] std::uint32_t behind(std::uint32_t crc) const {
    return of[0][crc & 0xff] ^ of[1][crc >> 8 & 0xff] ^ of[2][crc >> 16 & 0xff] ^ of[3][crc >> 24];
  }
};

/// CRC-32C by the instruction of processors with SSE4.2.
[[nodiscard]] std::uint32_t crc32c_by_processor(std::uint32_t crc, const void* bytes, std::size_t size);

/// From how many bytes on vectors are quicker.
inline constexpr std::size_t least_for_vectors = 1024;
/// True if the processor has what `crc32c_by_vectors` takes, and the compiler could compile it.
[[nodiscard]] bool has_vectors_for_crc();
/// CRC-32C of 256 bytes or more, by vectors.
[[nodiscard]] std::uint32_t crc32c_by_vectors(std::uint32_t crc, const void* bytes, std::size_t size);
#endif

/// The other CRC-32, that of ZIP files, of bytes behind others whose checksum is `crc`.
[[nodiscard]] std::uint32_t extend_crc32(std::uint32_t crc, const void* bytes, std::size_t size);

}  // namespace detail

/// The checksum of bytes behind others whose checksum is `crc`; 0 is that of none.
[[nodiscard]] std::uint32_t extend_crc32c(std::uint32_t crc, const void* bytes, std::size_t size);

/// The checksum of bytes.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

/// The form in which files hold a checksum of what may itself hold checksums.
[[nodiscard]] constexpr std::uint32_t mask_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
/// The checksum of what `mask_crc` returned.
[[nodiscard]] constexpr std::uint32_t unmask_crc(std::uint32_t masked) {
  const std::uint32_t turned = masked - 0xa282ead8u;
  return (turned >> 17) | (turned << 15);
}

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/crc32c.ipp"
#endif
