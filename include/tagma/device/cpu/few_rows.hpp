// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of which one side is short: as fast as the long matrix can be read or written, and without a copy of it.
/// Each element of the result is one sum in the order of the inner axis, or one over the lanes of a pack where that
/// axis is the last of both matrices: its bytes do not depend on how the result is shared. Who shares the inner axis
/// adds sums in an order of its own.

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
/// row is always read faster than a library copies the matrix. oneDNN reads it once as well, but not for four rows by a
/// matrix that is transposed.
inline constexpr std::int64_t large_matrix = std::int64_t{1} << 20;
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
inline constexpr bool library_reads_once = true;
#else
inline constexpr bool library_reads_once = false;
#endif

/// True if `few_rows_product` is for this product.
template <class T>
[[nodiscard]] bool has_few_rows(const gemm_args<T>& g) {
  if (g.n < least_columns || g.m == 0 || g.k == 0 || (g.transpose_a && g.transpose_b)) return false;
  if (g.k <= few_rows && !g.transpose_b) return true;
  if (sizeof(T) == 4 && g.transpose_b && g.k < 32) return false;  // nothing but what remains of vectors
  if (g.m == 1 || g.m > few_rows || sizeof(T) > 4) return g.m <= few_rows;
  return g.k * g.n >= large_matrix && (!library_reads_once || (g.m == few_rows && g.transpose_b));
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

/// The same for three rows of the result, or four, so that the second matrix is read once for all. `row` elements are
/// between rows of the first matrix, and the tiles are half as wide.
template <class T>
struct add_terms_to_rows {
  TAGMA_INLINE static void run(const T* a, std::int64_t row, std::int64_t next, const T* b, std::int64_t ldb,
                               std::int64_t count, T* c, std::int64_t ldc, std::int64_t rows, std::int64_t columns,
                               bool first) {
    using vector = typename plain_vectors<T>::type;
    const std::int64_t last = rows - 1;  // the third, which is done twice, or the fourth
    const T *const a1 = a + row, *const a2 = a1 + row, *const a3 = a + last * row;
    for (const T* const end = c + columns; c < end;
         c += 2 * plain_vectors<T>::lanes, b += 2 * plain_vectors<T>::lanes) {
      auto* const c0 = reinterpret_cast<vector*>(c);
      auto* const c1 = reinterpret_cast<vector*>(c + ldc);
      auto* const c2 = reinterpret_cast<vector*>(c + 2 * ldc);
      auto* const c3 = reinterpret_cast<vector*>(c + last * ldc);
      vector s0{}, s1{}, s2{}, s3{}, t0{}, t1{}, t2{}, t3{};
      if (!first) {
        s0 = c0[0], s1 = c1[0], s2 = c2[0], s3 = c3[0];
        t0 = c0[1], t1 = c1[1], t2 = c2[1], t3 = c3[1];
      }
      const T* terms = b;
      for (std::int64_t i = 0; i < count * next; i += next, terms += ldb) {
        const vector x = reinterpret_cast<const vector*>(terms)[0], y = reinterpret_cast<const vector*>(terms)[1];
        s0 = (a[i] - vector{}) * x + s0, t0 = (a[i] - vector{}) * y + t0;
        s1 = (a1[i] - vector{}) * x + s1, t1 = (a1[i] - vector{}) * y + t1;
        s2 = (a2[i] - vector{}) * x + s2, t2 = (a2[i] - vector{}) * y + t2;
        s3 = (a3[i] - vector{}) * x + s3, t3 = (a3[i] - vector{}) * y + t3;
      }
      c0[0] = s0, c1[0] = s1, c2[0] = s2, c3[0] = s3;
      c0[1] = t0, c1[1] = t1, c2[1] = t2, c3[1] = t3;
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

/// The same for three rows of the first matrix, or four, and two of the second one at a time.
template <class T>
struct products_of_few_rows {
  TAGMA_INLINE static void run(const T* a, std::int64_t row, const T* b, std::int64_t ldb, std::int64_t n, T* c,
                               std::int64_t ldc, std::int64_t rows, std::int64_t columns) {
    using vector = typename plain_vectors<T>::type;
    const std::int64_t last = rows - 1;  // the third, which is done twice, or the fourth
    const T *const a1 = a + row, *const a2 = a1 + row, *const a3 = a + last * row;
    for (std::int64_t j = 0; j < columns; j += 2) {
      if (j > columns - 2) j = columns - 2;
      const T *const b0 = b + j * ldb, *const b1 = b0 + ldb;
      vector s0{}, s1{}, s2{}, s3{}, t0{}, t1{}, t2{}, t3{};
      std::int64_t i = 0;
      for (; i + plain_vectors<T>::lanes <= n; i += plain_vectors<T>::lanes) {
        const vector x = *reinterpret_cast<const vector*>(b0 + i), y = *reinterpret_cast<const vector*>(b1 + i);
        const vector p = *reinterpret_cast<const vector*>(a + i), q = *reinterpret_cast<const vector*>(a1 + i);
        const vector r = *reinterpret_cast<const vector*>(a2 + i), s = *reinterpret_cast<const vector*>(a3 + i);
        s0 = p * x + s0, t0 = p * y + t0, s1 = q * x + s1, t1 = q * y + t1;
        s2 = r * x + s2, t2 = r * y + t2, s3 = s * x + s3, t3 = s * y + t3;
      }
      const vector sums[8] = {s0, t0, s1, t1, s2, t2, s3, t3};
      const std::int64_t of[4] = {0, 1, 2, last};
      for (std::int64_t q = 0; q < 8; ++q) {
        const T* const sum = reinterpret_cast<const T*>(sums + q);
        const T *const left = a + of[q / 2] * row, *const right = b0 + q % 2 * ldb;
        T total = 0;
        for (std::int64_t l = 0; l < plain_vectors<T>::lanes; ++l) total += sum[l];
        for (std::int64_t l = i; l < n; ++l) total += left[l] * right[l];
        c[of[q / 2] * ldc + j + q % 2] = total;
      }
    }
  }
};

/// A product for which `has_few_rows` is true. The second matrix is read once, in blocks that stay in the cache.
template <class T>
TAGMA_COLD void few_rows_product(const gemm_args<T>& g) {
  const std::int64_t row = g.transpose_a ? 1 : g.lda, next = g.transpose_a ? g.lda : 1;
  const std::int64_t wide = g.transpose_b ? least_columns : 1024, deep = g.transpose_b ? g.k : 8;
  const bool together = g.m > 2 && g.m <= few_rows && g.k > few_rows;
  for (std::int64_t left = 0, columns = 0; left < g.n; left += columns) {
    columns = g.n - left < wide ? (g.n - left) / least_columns * least_columns : wide;
    if (columns == 0) left = g.n - least_columns, columns = least_columns;  // some again
    for (std::int64_t i = 0; i < g.k; i += deep) {
      const std::int64_t count = g.k - i < deep ? g.k - i : deep;
      const T *const a = g.a + i * next, *const b = g.transpose_b ? g.b + left * g.ldb : g.b + i * g.ldb + left;
      T* const c = g.c + left;
      if (together && g.transpose_b) {
        dispatch<products_of_few_rows<T>>(a, row, b, g.ldb, g.k, c, g.ldc, g.m, columns);
        continue;
      }
      if constexpr (sizeof(T) > 4) {
        if (together) {
          dispatch<add_terms_to_rows<T>>(a, row, next, b, g.ldb, count, c, g.ldc, g.m, columns, i == 0);
          continue;
        }
      }
      for (std::int64_t r = 0; r < g.m; ++r) {
        if (g.transpose_b)
          dispatch<products_of_rows<T>>(a + r * row, b, g.ldb, g.k, c + r * g.ldc, columns);
        else
          dispatch<add_terms_to_row<T>>(a + r * row, next, b, g.ldb, count, c + r * g.ldc, columns, i == 0);
      }
    }
  }
}

}  // namespace tagma::device::cpu::detail
