// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A matrix of 16-bit elements transposed, for products that need it so. Templates only.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"

namespace tagma::device::cpu::detail {

/// Eight rows of eight elements of 16 bits, turned in registers.
struct turned_eight {
  typedef std::uint16_t vector __attribute__((vector_size(16)));
  typedef std::uint32_t pairs __attribute__((vector_size(16)));
  typedef std::uint64_t fours __attribute__((vector_size(16)));

  template <class V>
  TAGMA_INLINE static V read(const std::uint16_t* from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  /// Writes two rows: the lower and the upper four elements of each are those of `a` and `b`.
  template <class V>
  TAGMA_INLINE static void put(std::uint16_t* to, std::int64_t to_row, const V& a, const V& b) {
    const fours x = __builtin_bit_cast(fours, a), y = __builtin_bit_cast(fours, b);
    const fours low = __builtin_shufflevector(x, y, 0, 2), high = __builtin_shufflevector(x, y, 1, 3);
    __builtin_memcpy(to, &low, sizeof low);
    __builtin_memcpy(to + to_row, &high, sizeof high);
  }
  /// Four rows of the result, from elements 0 to 3 or 4 to 7 of four pairs of rows.
  template <class V>
  TAGMA_INLINE static void four(std::uint16_t* to, std::int64_t to_row, const V& a, const V& b, const V& c,
                                const V& d) {
    const pairs e = __builtin_bit_cast(pairs, a), f = __builtin_bit_cast(pairs, b);
    const pairs g = __builtin_bit_cast(pairs, c), h = __builtin_bit_cast(pairs, d);
    put(to, to_row, __builtin_shufflevector(e, f, 0, 4, 1, 5), __builtin_shufflevector(g, h, 0, 4, 1, 5));
    put(to + 2 * to_row, to_row, __builtin_shufflevector(e, f, 2, 6, 3, 7), __builtin_shufflevector(g, h, 2, 6, 3, 7));
  }
  template <class V = vector>
  TAGMA_INLINE static void run(std::uint16_t* to, std::int64_t to_row, const std::uint16_t* from, std::int64_t row) {
    const V a = read<V>(from), b = read<V>(from + row), c = read<V>(from + 2 * row), d = read<V>(from + 3 * row);
    from += 4 * row;
    const V e = read<V>(from), f = read<V>(from + row), g = read<V>(from + 2 * row), h = read<V>(from + 3 * row);
    four(to, to_row, __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11),
         __builtin_shufflevector(c, d, 0, 8, 1, 9, 2, 10, 3, 11),
         __builtin_shufflevector(e, f, 0, 8, 1, 9, 2, 10, 3, 11),
         __builtin_shufflevector(g, h, 0, 8, 1, 9, 2, 10, 3, 11));
    four(to + 4 * to_row, to_row, __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15),
         __builtin_shufflevector(c, d, 4, 12, 5, 13, 6, 14, 7, 15),
         __builtin_shufflevector(e, f, 4, 12, 5, 13, 6, 14, 7, 15),
         __builtin_shufflevector(g, h, 4, 12, 5, 13, 6, 14, 7, 15));
  }
};

/// Writes `columns` columns of `rows` elements as rows, which lie `to_row` elements apart. A strip of columns is a
/// cache line. What remains of eight rows or columns is turned with those before it, once more.
struct turn_halves {
  static constexpr std::int64_t strip = 32;
  template <class S>
  TAGMA_INLINE static void run(const S* matrix, std::int64_t from_row, std::int64_t rows, std::int64_t columns,
                               S* turned, std::int64_t to_row) {
    const auto* const from = reinterpret_cast<const std::uint16_t*>(matrix);
    auto* const to = reinterpret_cast<std::uint16_t*>(turned);
    if (rows < 8 || columns < 8) {
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) turned[j * to_row + i] = matrix[i * from_row + j];
      return;
    }
    for (std::int64_t left = 0; left < columns; left += strip)
      for (std::int64_t i = 0; i < rows; i += 8) {
        if (i > rows - 8) i = rows - 8;
        for (std::int64_t j = left; j < columns && j < left + strip; j += 8) {
          const std::int64_t at = j > columns - 8 ? columns - 8 : j;
          turned_eight::run(to + at * to_row + i, to_row, from + i * from_row + at, from_row);
        }
      }
  }
};

}  // namespace tagma::device::cpu::detail
