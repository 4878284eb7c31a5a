// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of small matrices in batches: loops that go from one to the next without a call for each. Each element of a
/// result is one sum in the order of the inner axis, so that its bytes depend neither on the length of a vector nor on
/// how the batch is shared. Matrices of 16-bit floats are widened one by one, and stay in the cache meanwhile. Only
/// results of more than two axes need any of this.

#include <cstdint>
#include <type_traits>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/gemm_args.hpp"
#include "tagma/device/cpu/pack.hpp"

namespace tagma::device::cpu::detail {

/// Terms of a sum, multiplications of a product and elements of a matrix of 16-bit floats up to which they are small.
/// Beyond, others are as fast.
inline constexpr std::int64_t small_terms = 128, small_product_size = std::int64_t{1} << 19, small_half = 4096;

/// True if `small_products` is for products of these extents. With one row and many columns, few_rows.hpp is. oneDNN
/// is good at floats, but packs a second matrix that is transposed slowly, unless it is for few rows.
template <class T>
[[nodiscard]] bool is_small(const gemm_args<T>& g) {
  const std::int64_t most = sizeof(T) == 4 && !g.transpose_b ? small_product_size / 2 : small_product_size;
  if (g.m == 0 || g.n == 0 || g.k == 0) return false;
  if (g.k > small_terms || g.m * g.n > most || g.m * g.n * g.k > most) return false;
  if (g.m < 4 && g.transpose_b && !g.transpose_a && g.k * g.n > 1024) return false;
  if (g.m == 1 && g.n >= least_columns) return false;
  return sizeof(T) > 2 || (g.m * g.k <= small_half && g.k * g.n <= small_half && g.m * g.n <= small_half);
}

/// Products whose matrices, which have elements, are at equal distances from one to the next; 0 where one is for all.
template <class T>
struct small_batch {
  gemm_args<T> first;
  std::int64_t count, a_next, b_next, c_next;
};

/// A product with vectors of `Bytes`, of which a row of the result has one at least. A tile has up to `Most` of them in
/// each of four rows, or one in each of eight. The last vector of a tile, and the last rows, overlap those before: both
/// come to the same.
template <class T, std::size_t Bytes, int Most>
struct small_product {
  using vector = typename plain_vectors<T, Bytes>::type;
  static constexpr std::int64_t lanes = plain_vectors<T, Bytes>::lanes;

  /// How far rows are from the first of four. The last of fewer than four stands for the others.
  struct four {
    std::int64_t second, third, fourth;
    TAGMA_INLINE four(std::int64_t count, std::int64_t distance)
        : second(count > 1 ? distance : 0),
          third(count > 2 ? 2 * distance : second),
          fourth(count > 3 ? 3 * distance : third) {}
  };

  /// Vectors of one row; the last one is `last` elements behind the first.
  template <int Vectors>
  struct row {
    vector x{}, y{}, z{}, w{};
    TAGMA_INLINE vector& end() {
      if constexpr (Vectors == 4)
        return w;
      else if constexpr (Vectors == 3)
        return z;
      else
        return y;
    }
    TAGMA_INLINE void add(T a, const row& b) {
      const vector f = a - vector{};
      x = f * b.x + x;
      if constexpr (Vectors > 1) y = f * b.y + y;
      if constexpr (Vectors > 2) z = f * b.z + z;
      if constexpr (Vectors > 3) w = f * b.w + w;
    }
    TAGMA_INLINE void read(const T* b, [[maybe_unused]] std::int64_t last) {
      x = *reinterpret_cast<const vector*>(b);
      if constexpr (Vectors > 2) y = *reinterpret_cast<const vector*>(b + lanes);
      if constexpr (Vectors > 3) z = *reinterpret_cast<const vector*>(b + 2 * lanes);
      if constexpr (Vectors > 1) end() = *reinterpret_cast<const vector*>(b + last);
    }
    TAGMA_INLINE void put(T* c, [[maybe_unused]] std::int64_t last) {
      *reinterpret_cast<vector*>(c) = x;
      if constexpr (Vectors > 2) *reinterpret_cast<vector*>(c + lanes) = y;
      if constexpr (Vectors > 3) *reinterpret_cast<vector*>(c + 2 * lanes) = z;
      if constexpr (Vectors > 1) *reinterpret_cast<vector*>(c + last) = end();
    }
  };
  template <int Vectors>
  struct tile {
    row<Vectors> s, t, u, v;
    TAGMA_INLINE void add(const T* a, const four& rows, const row<Vectors>& b) {
      s.add(a[0], b), t.add(a[rows.second], b), u.add(a[rows.third], b), v.add(a[rows.fourth], b);
    }
    TAGMA_INLINE void put(T* c, const four& rows, std::int64_t last) {
      s.put(c, last), t.put(c + rows.second, last), u.put(c + rows.third, last), v.put(c + rows.fourth, last);
    }
  };

  /// Some columns of the second matrix.
  struct columns {
    const T* b;
    std::int64_t next, last;  ///< from a term to the next, from the first vector to the last one
    std::int64_t count;       ///< of terms
  };
  template <int Vectors>
  TAGMA_INLINE static void add(const T* a, std::int64_t next, const four& rows, const columns& by, T* c,
                               const four& c_rows) {
    tile<Vectors> sums;
    const T* b = by.b;
    for (std::int64_t p = 0; p < by.count; ++p, a += next, b += by.next) {
      row<Vectors> terms;
      terms.read(b, by.last);
      sums.add(a, rows, terms);
    }
    sums.put(c, c_rows, by.last);
  }
  /// The same of one vector in eight rows: the four sums of one tile would wait for each other.
  TAGMA_INLINE static void add_eight(const T* a, const T* more, std::int64_t next, const four& rows, const columns& by,
                                     T* c, T* c_more, const four& c_rows) {
    tile<1> sums, others;
    const T* b = by.b;
    for (std::int64_t p = 0; p < by.count; ++p, a += next, more += next, b += by.next) {
      row<1> terms;
      terms.read(b, 0);
      sums.add(a, rows, terms), others.add(more, rows, terms);
    }
    sums.put(c, c_rows, 0), others.put(c_more, c_rows, 0);
  }

  /// `count` elements of each of `lines`, which are `beside` apart, side by side.
  TAGMA_INLINE static void pack_lines(T* to, std::int64_t width, const T* from, std::int64_t lines, std::int64_t beside,
                                      std::int64_t count) {
    if (lines < 4 || count < 4) {
      for (std::int64_t i = 0; i < lines; ++i)
        for (std::int64_t p = 0; p < count; ++p) to[p * width + i] = from[i * beside + p];
      return;
    }
    for (std::int64_t i = 0; i < lines; i += 4) {
      if (i > lines - 4) i = lines - 4;
      for (std::int64_t p = 0; p < count; p += 4) {
        if (p > count - 4) p = count - 4;
        portable_gemm_of<T, Bytes>::pack_four(to + p * width + i, width, from + i * beside + p, beside);
      }
    }
  }

  TAGMA_INLINE static void run(const gemm_args<T>& g, T* packed) {
    const std::int64_t beside = g.transpose_a ? 1 : g.lda, next = g.transpose_a ? g.lda : 1;
    const four rows(g.m, beside), c_rows(g.m, g.ldc);
    // As many vectors in each tile, if possible: five are three and two.
    const std::int64_t vectors = (g.n + lanes - 1) / lanes, tiles = (vectors + Most - 1) / Most;
    const std::int64_t wide = (vectors + tiles - 1) / tiles * lanes;
    const bool packs = std::int64_t{sizeof(T)} * (g.m * g.k + g.k * g.n + g.m * g.n) > 40 * 1024;
    for (std::int64_t j = 0, across = wide; j < g.n; j += across) {
      if (across > g.n - j) across = g.n - j;
      if (across < lanes) j -= lanes - across, across = lanes;
      columns by{g.b + j, g.ldb, across - lanes, g.k};
      if (g.transpose_b) {
        pack_lines(packed, Most * lanes, g.b + j * g.ldb, across, g.ldb, g.k);
        by.b = packed, by.next = Most * lanes;
      } else if (packs) {
        for (std::int64_t p = 0; p < g.k; ++p)
          for (std::int64_t q = 0; q < across; q += lanes) {
            if (q > across - lanes) q = across - lanes;
            *reinterpret_cast<vector*>(packed + p * Most * lanes + q) =
                *reinterpret_cast<const vector*>(by.b + p * g.ldb + q);
          }
        by.b = packed, by.next = Most * lanes;
      }
      const bool one = across == lanes && g.m >= 8;
      const std::int64_t high = one ? 8 : 4;
      for (std::int64_t i = 0; i < g.m; i += high) {
        if (i > 0 && i > g.m - high) i = g.m - high;
        const T* const a = g.a + i * beside;
        T* const c = g.c + i * g.ldc + j;
        if (one)
          add_eight(a, a + 4 * beside, next, rows, by, c, c + 4 * g.ldc, c_rows);
        else if (Most > 3 && across > 3 * lanes)
          add<Most>(a, next, rows, by, c, c_rows);
        else if (Most > 2 && across > 2 * lanes)
          add < Most<3 ? Most : 3>(a, next, rows, by, c, c_rows);
        else if (across > lanes)
          add<2>(a, next, rows, by, c, c_rows);
        else
          add<1>(a, next, rows, by, c, c_rows);
      }
    }
  }
};

/// @tparam S what is stored, T what is computed
template <class S, class T, std::size_t Bytes>
struct small_products_of {
  static constexpr int most = Bytes > 32 ? 4 : 3;
  static constexpr std::int64_t size = sizeof(T), most_turned = 256;

  /// With the longest vectors of which a row has one; with short rows as the transposed product, from transposed
  /// matrices; or element by element.
  TAGMA_INLINE static void multiply(gemm_args<T> g, T* packed) {
    T turned[std::size_t{3 * most_turned}];
    T* const c = g.c;
    const std::int64_t m = g.m, n = g.n, ldc = g.ldc;
    const bool turns = n < 4 && m * size >= 16 && m <= most_turned && (m >= 8 || n * size < 16);
    if (turns) g = {!g.transpose_b, !g.transpose_a, n, m, g.k, g.b, g.ldb, g.a, g.lda, n == 1 ? c : turned, m};
    if (g.n * size >= std::int64_t{Bytes})
      small_product<T, Bytes, most>::run(g, packed);
    else if (Bytes > 32 && g.n * size >= 32)
      small_product<T, 32, 2>::run(g, packed);
    else if (g.n * size >= 16)
      small_product<T, 16, 2>::run(g, packed);
    else
      each_element(g);
    if (turns && n > 1)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) c[i * ldc + j] = turned[j * m + i];
  }
  TAGMA_INLINE static void each_element(const gemm_args<T>& g) {
    const std::int64_t next = g.transpose_a ? g.lda : 1, b_next = g.transpose_b ? 1 : g.ldb;
    for (std::int64_t i = 0; i < g.m; ++i)
      for (std::int64_t j = 0; j < g.n; ++j) {
        const T *a = g.a + (g.transpose_a ? i : i * g.lda), *b = g.b + (g.transpose_b ? j * g.ldb : j);
        T sum = 0;
        for (std::int64_t p = 0; p < g.k; ++p, a += next, b += b_next) sum = *a * *b + sum;
        g.c[i * g.ldc + j] = sum;
      }
  }

  template <class From, class To>
  TAGMA_INLINE static void convert(const From* from, To* to, std::int64_t n) {
    constexpr int lanes = Bytes > 32 ? 16 : 8;
    for (std::int64_t i = 0; i + lanes <= n; i += lanes) store(to + i, load<lanes>(from + i));
    const int rest = static_cast<int>(n % lanes);
    if (rest > 0) store(to + n - rest, load<lanes>(from + n - rest, rest), rest);
  }

  TAGMA_INLINE static void run(const small_batch<S>* batch) {
    alignas(64) T packed[std::size_t{most * Bytes / sizeof(T) * small_terms}];
    gemm_args<S> g = batch->first;
    if constexpr (std::is_same_v<S, T>) {
      for (std::int64_t i = 0; i < batch->count; ++i) {
        multiply(g, packed);
        g.a += batch->a_next, g.b += batch->b_next, g.c += batch->c_next;
      }
    } else {
      alignas(64) T a[std::size_t{small_half}], b[std::size_t{small_half}], c[std::size_t{small_half}];
      const gemm_args<T> wide{g.transpose_a, g.transpose_b, g.m, g.n, g.k, a, g.lda, b, g.ldb, c, g.ldc};
      for (std::int64_t i = 0; i < batch->count; ++i) {
        if (i == 0 || batch->a_next != 0) convert(g.a, a, g.m * g.k);
        if (i == 0 || batch->b_next != 0) convert(g.b, b, g.k * g.n);
        multiply(wide, packed);
        convert(static_cast<const T*>(c), g.c, g.m * g.n);
        g.a += batch->a_next, g.b += batch->b_next, g.c += batch->c_next;
      }
    }
  }
};
template <class S>
using small_products =
    with_wide<small_products_of<S, compute_t<S>, plain_bytes>, small_products_of<S, compute_t<S>, wide_plain_bytes>>;

}  // namespace tagma::device::cpu::detail
