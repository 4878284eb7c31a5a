// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products of row-major matrices: floats by oneDNN where it is, all others by loops of our own on x86-64, which
/// are compiled for the processor at hand, and by Eigen elsewhere.

#include <cstdint>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/few_rows.hpp"
#include "tagma/device/cpu/gemm_args.hpp"
#include "tagma/device/cpu/math.hpp"

#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
#include <dlfcn.h>
#include <dnnl.h>
#elif defined(__x86_64__) && (!TAGMA_PORTABLE || (defined(__AVX2__) && defined(__FMA__)))
#define TAGMA_OWN_PRODUCTS 1
#elif __has_include(<Eigen/Core>)
#ifndef EIGEN_MPL2_ONLY
#define EIGEN_MPL2_ONLY
#define TAGMA_DEFINED_EIGEN_MPL2_ONLY
#endif
#ifndef EIGEN_DONT_PARALLELIZE
#define EIGEN_DONT_PARALLELIZE
#define TAGMA_DEFINED_EIGEN_DONT_PARALLELIZE
#endif
#include <Eigen/Core>
// What the includer includes of Eigen besides is its own affair.
#ifdef TAGMA_DEFINED_EIGEN_MPL2_ONLY
#undef EIGEN_MPL2_ONLY
#undef TAGMA_DEFINED_EIGEN_MPL2_ONLY
#endif
#ifdef TAGMA_DEFINED_EIGEN_DONT_PARALLELIZE
#undef EIGEN_DONT_PARALLELIZE
#undef TAGMA_DEFINED_EIGEN_DONT_PARALLELIZE
#endif
#else  // loops of our own would have no vectors that are worth it
#error "tagma needs oneDNN (-DTAGMA_WITH_ONEDNN=1 -ldnnl) or Eigen (-I) for matrix products"
#endif

#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
TAGMA_NEEDS_LIBRARY(compiled_with_onednn)
#else
TAGMA_NEEDS_LIBRARY(compiled_without_onednn)
#endif

namespace tagma::device::cpu {

namespace detail {

/// Tiles of four rows (eight with vectors of 64 bytes) and up to three vectors of columns, for what no library does.
/// Sums are formed in the order of the inner axis, 128 terms at a time, whatever the length of a vector and wherever
/// parts of a product begin. The first matrix is read where it lies if the result is narrow; what is left of four rows,
/// or all of it, is packed, and so are panels of the second one.
template <class T, std::size_t Bytes>
struct portable_gemm_of {
  using vector = typename plain_vectors<T, Bytes>::type;
  static constexpr std::int64_t lanes = plain_vectors<T, Bytes>::lanes;
  static constexpr std::int64_t depth = 128, high = 128;  // of panels
  /// Rows of the first matrix that are packed at once. What is packed lies on the stack: 128 KiB.
  static constexpr std::int64_t packed_rows = 1024 / static_cast<std::int64_t>(sizeof(T));

  /// The sums of one row.
  template <int Vectors>
  struct row {
    vector x{}, y{}, z{};
    TAGMA_INLINE void add(T a, const vector* b) {
      const vector f = a - vector{};
      x = f * b[0] + x;
      if constexpr (Vectors > 1) y = f * b[1] + y;
      if constexpr (Vectors > 2) z = f * b[2] + z;
    }
    /// Adds the sums to what is in `c`, or puts them there.
    TAGMA_INLINE void put(T* c, bool first) const {
      auto* const v = reinterpret_cast<vector*>(c);
      v[0] = first ? x : v[0] + x;
      if constexpr (Vectors > 1) v[1] = first ? y : v[1] + y;
      if constexpr (Vectors > 2) v[2] = first ? z : v[2] + z;
    }
  };

  /// The sums of four rows.
  template <int Vectors>
  struct tile {
    row<Vectors> s, t, u, v;
    TAGMA_INLINE void add(const T* a, std::int64_t beside, const vector* b) {
      s.add(a[0], b);
      t.add(a[beside], b);
      u.add(a[2 * beside], b);
      v.add(a[3 * beside], b);
    }
    TAGMA_INLINE void put(T* c, std::int64_t ldc, bool first) const {
      s.put(c, first), t.put(c + ldc, first), u.put(c + 2 * ldc, first), v.put(c + 3 * ldc, first);
    }
  };

  /// Four rows of the first matrix.
  struct four_rows {
    const T* first;
    std::int64_t beside, next;  ///< from a row and from a term to the next
  };
  /// A tile of sums of `count` products. `b_next` is the way from a term to the next.
  template <int Vectors>
  TAGMA_INLINE static void add(four_rows a, const T* b, std::int64_t b_next, std::int64_t count, bool first, T* c,
                               std::int64_t ldc) {
    tile<Vectors> sums;
    for (std::int64_t p = 0; p < count; ++p, a.first += a.next, b += b_next)
      sums.add(a.first, a.beside, reinterpret_cast<const vector*>(b));
    sums.put(c, ldc, first);
  }
  /// The same of two tiles: the four sums of one vector would wait for each other, and vectors of 64 bytes have
  /// registers for both.
  template <int Vectors>
  TAGMA_INLINE static void add_two(four_rows a, const T* more, const T* b, std::int64_t b_next, std::int64_t count,
                                   bool first, T* c, std::int64_t ldc) {
    for (std::int64_t r = 0; r < 8; ++r)
      for (int v = 0; v < Vectors; ++v) __builtin_prefetch(c + r * ldc + v * lanes, 1);
    tile<Vectors> sums, others;
    for (std::int64_t p = 0; p < count; ++p, a.first += a.next, more += a.next, b += b_next) {
      sums.add(a.first, a.beside, reinterpret_cast<const vector*>(b));
      others.add(more, a.beside, reinterpret_cast<const vector*>(b));
    }
    sums.put(c, ldc, first);
    others.put(c + 4 * ldc, ldc, first);
  }

  /// Four elements of each of four lines, side by side.
  TAGMA_INLINE static void pack_four(T* to, std::int64_t width, const T* from, std::int64_t beside) {
    using four = typename plain_vectors<T, 4 * sizeof(T)>::type;
    const four a = *reinterpret_cast<const four*>(from), b = *reinterpret_cast<const four*>(from + beside);
    const four c = *reinterpret_cast<const four*>(from + 2 * beside);
    const four d = *reinterpret_cast<const four*>(from + 3 * beside);
    const four e = __builtin_shufflevector(a, b, 0, 4, 1, 5), f = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const four g = __builtin_shufflevector(a, b, 2, 6, 3, 7), h = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *reinterpret_cast<four*>(to) = __builtin_shufflevector(e, f, 0, 1, 4, 5);
    *reinterpret_cast<four*>(to + width) = __builtin_shufflevector(e, f, 2, 3, 6, 7);
    *reinterpret_cast<four*>(to + 2 * width) = __builtin_shufflevector(g, h, 0, 1, 4, 5);
    *reinterpret_cast<four*>(to + 3 * width) = __builtin_shufflevector(g, h, 2, 3, 6, 7);
  }

  /// `count` elements of each of `n` lines, side by side, Width of them. `beside` is the way from one line to its
  /// neighbour in memory, `next` that from element to element of a line. What is behind the last line is of no use.
  template <std::int64_t Width>
  TAGMA_INLINE static void pack_lines(T* to, const T* from, std::int64_t n, std::int64_t beside, std::int64_t count,
                                      std::int64_t next) {
    std::int64_t lines = 0, first = 0;
    if (beside == 1) {
      const std::int64_t end = (count - 1) * next + n;
      for (; first < count && first * next + Width <= end; ++first)
        __builtin_memcpy(to + first * Width, from + first * next, Width * sizeof(T));
    } else if (next == 1) {
      for (; lines + 4 <= n; lines += 4) {
        for (std::int64_t p = 0; p + 4 <= count; p += 4)
          pack_four(to + p * Width + lines, Width, from + lines * beside + p, beside);
        for (std::int64_t i = lines; i < lines + 4; ++i)
          for (std::int64_t p = count / 4 * 4; p < count; ++p) to[p * Width + i] = from[i * beside + p];
      }
    }
    for (std::int64_t i = lines; i < Width; ++i)
      for (std::int64_t p = first; p < count; ++p) to[p * Width + i] = i < n ? from[i * beside + p * next] : T(0);
  }

  /// Some rows of the first matrix and some terms of each sum.
  struct panel {
    four_rows first;
    std::int64_t next_four;  ///< from four rows to the next ones
    four_rows last;          ///< of which there are fewer than four
    std::int64_t rows, count;
    bool is_first;  ///< these are the first terms
    TAGMA_INLINE four_rows at(std::int64_t row) const {
      return row + 4 > rows ? last : four_rows{first.first + row / 4 * next_four, first.beside, first.next};
    }
  };
  /// Where panels of the second matrix are packed, and tiles that are not whole.
  struct buffers {
    alignas(64) T packed[std::size_t{3 * lanes * depth}];
    alignas(64) T part[std::size_t{24 * lanes}];
  };
  /// Up to `Vectors * lanes` columns of the result from `c` on.
  template <int Vectors>
  TAGMA_INLINE static void columns(const panel& p, buffers& own, const T* b, std::int64_t n, std::int64_t beside,
                                   std::int64_t next, T* c, std::int64_t ldc) {
    constexpr std::int64_t across = Vectors * lanes;
    constexpr bool has_two = Vectors == 1 || Bytes == 64;
    if (beside != 1 || n != across || p.rows > 8) {
      pack_lines<across>(own.packed, b, n, beside, p.count, next);
      b = own.packed, next = across;
    }
    for (std::int64_t i = 0, rows = 0; i < p.rows; i += rows, c += rows * ldc) {
      const bool two = has_two && p.rows - i >= 8;
      rows = two ? 8 : p.rows - i < 4 ? p.rows - i : 4;
      const bool whole = rows >= 4 && n == across;
      T* const to = whole ? c : own.part;
      const std::int64_t distance = whole ? ldc : across;
      if constexpr (has_two)
        if (two) add_two<Vectors>(p.at(i), p.at(i + 4).first, b, next, p.count, p.is_first || !whole, to, distance);
      if (!two) add<Vectors>(p.at(i), b, next, p.count, p.is_first || !whole, to, distance);
      if (whole) continue;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t q = 0; q < n; ++q)
          c[r * ldc + q] = p.is_first ? to[r * across + q] : c[r * ldc + q] + to[r * across + q];
    }
  }

  TAGMA_INLINE static void run(const gemm_args<T>* g) {
    alignas(64) T packed[std::size_t{packed_rows * depth}];
    buffers own;
    const std::int64_t beside = g->transpose_a ? 1 : g->lda, next = g->transpose_a ? g->lda : 1;
    const std::int64_t b_beside = g->transpose_b ? g->ldb : 1, b_next = g->transpose_b ? 1 : g->ldb;
    // Elements of a column are far from each other, and rows may be where they push each other out of the cache.
    const bool in_place = g->n <= (g->transpose_a ? 6 : 12) * lanes;
    const std::int64_t most = in_place ? high : packed_rows;
    for (std::int64_t row = 0; row < g->m; row += most)
      for (std::int64_t first = 0; first < g->k; first += depth) {
        const std::int64_t count = g->k - first < depth ? g->k - first : depth;
        const std::int64_t rows = g->m - row < most ? g->m - row : most;
        const T* const a = g->a + row * beside + first * next;
        four_rows four{a, beside, next};  // not by ?:, at which nvcc crashes
        T* last = packed;
        if (!in_place) four = {packed, 1, 4}, last += rows / 4 * 4 * count;
        for (std::int64_t i = in_place ? rows / 4 * 4 : 0; i < rows; i += 4)
          pack_lines<4>(i < rows / 4 * 4 ? packed + i * count : last, a + i * beside, rows - i < 4 ? rows - i : 4,
                        beside, count, next);
        const panel p{four, 4 * (in_place ? beside : count), {last, 1, 4}, rows, count, first == 0};
        const T* const b = g->b + first * b_next;
        T* const c = g->c + row * g->ldc;
        std::int64_t j = 0;
        for (; g->n - j > 2 * lanes; j += 3 * lanes)
          columns<3>(p, own, b + j * b_beside, g->n - j < 3 * lanes ? g->n - j : 3 * lanes, b_beside, b_next, c + j,
                     g->ldc);
        if (g->n - j > lanes)
          columns<2>(p, own, b + j * b_beside, g->n - j, b_beside, b_next, c + j, g->ldc);
        else if (g->n > j)
          columns<1>(p, own, b + j * b_beside, g->n - j, b_beside, b_next, c + j, g->ldc);
      }
  }
};

template <class T>
using portable_gemm = with_wide<portable_gemm_of<T, plain_bytes>, portable_gemm_of<T, wide_plain_bytes>>;

#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
/// oneDNN's own threads are ten times slower on small shapes than one thread of ours, so each of our threads tells the
/// OpenMP runtime behind it, once, to use one.
[[gnu::noinline]] inline void use_one_openmp_thread() {
  thread_local const bool done = [] {
    using set_threads = void (*)(int);
    if (auto* set = reinterpret_cast<set_threads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(1);
    return true;
  }();
  (void)done;
}

inline void library_gemm(const gemm_args<float>& g) {
  use_one_openmp_thread();
  const dnnl_status_t status = dnnl_sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f,
                                          g.a, g.lda, g.b, g.ldb, 0.0f, g.c, g.ldc);
  if (status != dnnl_success)
    fail(status_code::internal, {"oneDNN refused a matrix product, status ", static_cast<int>(status)});
}
#elif !defined(TAGMA_OWN_PRODUCTS)
template <class T>
void library_gemm(const gemm_args<T>& g) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using stride = Eigen::OuterStride<>;
  using map = Eigen::Map<const matrix, 0, stride>;
  Eigen::Map<matrix, 0, stride> c(g.c, g.m, g.n, stride(g.ldc));
  const map a(g.a, g.transpose_a ? g.k : g.m, g.transpose_a ? g.m : g.k, stride(g.lda));
  const map b(g.b, g.transpose_b ? g.n : g.k, g.transpose_b ? g.k : g.n, stride(g.ldb));
  if (g.transpose_a && g.transpose_b)
    c.noalias() = a.transpose() * b.transpose();
  else if (g.transpose_a)
    c.noalias() = a.transpose() * b;
  else if (g.transpose_b)
    c.noalias() = a * b.transpose();
  else
    c.noalias() = a * b;
}
#endif

}  // namespace detail

/// What is behind products of floats, for `build_info`.
[[nodiscard]] inline std::string_view gemm_library() {
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
  return "oneDNN " TAGMA_TEXT(DNNL_VERSION_MAJOR) "." TAGMA_TEXT(DNNL_VERSION_MINOR);
#elif defined(TAGMA_OWN_PRODUCTS)
  return "own loops";
#else
  return best_level() == level::baseline ? "Eigen" : "own loops";
#endif
}

/// One product on the calling thread.
/// @param few whether it, or what it is a part of, has so few rows that it reads the long matrix where it lies
template <class T>
void gemm(const gemm_args<T>& g, bool few) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) {
    for (std::int64_t i = 0; i < g.m; ++i) std::memset(g.c + i * g.ldc, 0, static_cast<std::size_t>(g.n) * sizeof(T));
    return;
  }
  if (few) return detail::few_rows_product(g);
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
  if constexpr (std::is_same_v<T, float>)
    detail::library_gemm(g);
  else
    dispatch<detail::portable_gemm<T>>(&g);
#elif defined(TAGMA_OWN_PRODUCTS)
  dispatch<detail::portable_gemm<T>>(&g);
#else
#if defined(__x86_64__)
  if (best_level() != level::baseline) return dispatch<detail::portable_gemm<T>>(&g);
#endif
  detail::library_gemm<T>(g);
#endif
}

template <class T>
void gemm(const gemm_args<T>& g) {
  gemm(g, detail::has_few_rows(g));
}

}  // namespace tagma::device::cpu

#undef TAGMA_OWN_PRODUCTS
