// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of which one side is short: as fast as the long matrix can be read or written, and without a copy of it.
/// Each element of the result is one sum in the order of the inner axis, or one over the lanes of a pack where that
/// axis is the last of both matrices: its bytes do not depend on how the result is shared.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/gemm_args.hpp"

namespace tagma::device::cpu::detail {

/// Rows of the result, or terms of each sum, up to which a product is one of these.
inline constexpr std::int64_t few_rows = 4;
/// Columns that it has at least, so that what remains of a vector is done again with those before it.
inline constexpr std::int64_t least_columns = 32;

/// Elements of the second matrix from which on reading it once counts for more than the wider vectors of a library. One
/// row is always read faster than a library copies the matrix.
inline constexpr std::int64_t large_matrix = std::int64_t{1} << 20;

/// True if `few_rows_product` is for this product.
template <class T>
[[nodiscard]] bool has_few_rows(const gemm_args<T>& g) {
  if (g.n < least_columns || g.m == 0 || g.k == 0 || (g.transpose_a && g.transpose_b)) return false;
  if (g.k <= few_rows && !g.transpose_b) return true;
  if (sizeof(T) == 4 && g.transpose_b && g.k < 32) return false;  // nothing but what remains of vectors
  return g.m == 1 || (g.m <= few_rows && (sizeof(T) > 4 || g.k * g.n >= large_matrix));
}

/// What the loops of these products compute with. Not packs: every program with a product has these loops, and plain
/// vectors in small functions are what a compiler is done with soon.
#if defined(__x86_64__)
inline constexpr std::size_t plain_bytes = 32, wide_plain_bytes = 64;
#else
inline constexpr std::size_t plain_bytes = 16, wide_plain_bytes = 16;  // g++ keeps longer vectors in memory
#endif
template <class T, std::size_t Bytes = plain_bytes>
struct plain_vectors {
  typedef T type __attribute__((vector_size(Bytes), aligned(alignof(T)), may_alias));
  static constexpr std::int64_t lanes = Bytes / sizeof(T), tile = 4 * lanes;
};

/// Adds `count` terms to some whole tiles of a row. `next` elements are between those of the first matrix.
template <class T>
struct add_terms_to_row {
  TAGMA_INLINE static void run(const T* a, std::int64_t next, const T* b, std::int64_t ldb, std::int64_t count, T* c,
                               std::int64_t columns, bool first) {
    using vector = typename plain_vectors<T>::type;
    for (const T* const end = c + columns; c < end; c += plain_vectors<T>::tile, b += plain_vectors<T>::tile) {
      auto* const sums = reinterpret_cast<vector*>(c);
      vector s{}, t{}, u{}, v{};
      if (!first) s = sums[0], t = sums[1], u = sums[2], v = sums[3];
      const T *factor = a, *row = b;
      for (std::int64_t i = 0; i < count; ++i, factor += next, row += ldb) {
        const auto* const terms = reinterpret_cast<const vector*>(row);
        const vector x = *factor - vector{};
        s = x * terms[0] + s;
        t = x * terms[1] + t;
        u = x * terms[2] + u;
        v = x * terms[3] + v;
      }
      sums[0] = s, sums[1] = t, sums[2] = u, sums[3] = v;
    }
  }
};

/// A row of the first matrix times `columns` rows of the second one, four at a time, of which there are as many at
/// least.
template <class T>
struct products_of_rows {
  TAGMA_INLINE static void run(const T* a, const T* b, std::int64_t ldb, std::int64_t n, T* c, std::int64_t columns) {
    using vector = typename plain_vectors<T>::type;
    for (std::int64_t j = 0; j < columns; j += 4) {
      if (j > columns - 4) j = columns - 4;  // some again, which come out the same
      const T *const b0 = b + j * ldb, *const b1 = b0 + ldb, *const b2 = b1 + ldb, *const b3 = b2 + ldb;
      vector s{}, t{}, u{}, v{};
      std::int64_t i = 0;
      for (; i + plain_vectors<T>::lanes <= n; i += plain_vectors<T>::lanes) {
        const vector x = *reinterpret_cast<const vector*>(a + i);
        s = x * *reinterpret_cast<const vector*>(b0 + i) + s;
        t = x * *reinterpret_cast<const vector*>(b1 + i) + t;
        u = x * *reinterpret_cast<const vector*>(b2 + i) + u;
        v = x * *reinterpret_cast<const vector*>(b3 + i) + v;
      }
      const vector sums[4] = {s, t, u, v};
      for (std::int64_t q = 0; q < 4; ++q) {
        const T* const sum = reinterpret_cast<const T*>(sums + q);
        T total = 0;
        for (std::int64_t l = 0; l < plain_vectors<T>::lanes; ++l) total += sum[l];
        for (std::int64_t l = i; l < n; ++l) total += a[l] * b0[q * ldb + l];
        c[j + q] = total;
      }
    }
  }
};

/// A product for which `has_few_rows` is true. The second matrix is read once, in blocks that stay in the cache.
template <class T>
TAGMA_COLD void few_rows_product(const gemm_args<T>& g) {
  const std::int64_t row = g.transpose_a ? 1 : g.lda, next = g.transpose_a ? g.lda : 1;
  const std::int64_t wide = g.transpose_b ? least_columns : 1024, deep = g.transpose_b ? g.k : 8;
  for (std::int64_t left = 0, columns = 0; left < g.n; left += columns) {
    columns = g.n - left < wide ? (g.n - left) / least_columns * least_columns : wide;
    if (columns == 0) left = g.n - least_columns, columns = least_columns;  // some again
    for (std::int64_t i = 0; i < g.k; i += deep)
      for (std::int64_t r = 0; r < g.m; ++r) {
        const T* const a = g.a + r * row + i * next;
        T* const c = g.c + r * g.ldc + left;
        if (g.transpose_b) {
          dispatch<products_of_rows<T>>(a, g.b + left * g.ldb, g.ldb, g.k, c, columns);
        } else {
          dispatch<add_terms_to_row<T>>(a, next, g.b + i * g.ldb + left, g.ldb, g.k - i < deep ? g.k - i : deep, c,
                                        columns, i == 0);
        }
      }
  }
}

}  // namespace tagma::device::cpu::detail
