// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products of row-major matrices: oneDNN or Eigen where they are, our own loops for the types they lack.

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
#else
#error "tagma needs oneDNN (-DTAGMA_WITH_ONEDNN=1 -ldnnl) or Eigen (-I) for matrix products"
#endif

#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
TAGMA_NEEDS_LIBRARY(compiled_with_onednn)
#else
TAGMA_NEEDS_LIBRARY(compiled_with_eigen)
#endif

namespace tagma::device::cpu {

namespace detail {

/// Tiles of 4 rows by three vectors of columns over packed panels of both matrices; for element types without a
/// library. Longer sums are formed panel by panel, in `c`: each is one sum in the order of the inner axis.
template <class T>
struct portable_gemm {
  using vector = typename plain_vectors<T>::type;
  static constexpr std::int64_t lanes = plain_vectors<T>::lanes, wide = 3 * lanes;
  static constexpr std::int64_t depth = 256, high = 32;  // of panels, which lie on the stack

  /// The sums of one row.
  struct row {
    vector x, y, z;
    TAGMA_INLINE void add(T a, const vector& p, const vector& q, const vector& r) {
      const vector f = a - vector{};
      x = f * p + x;
      y = f * q + y;
      z = f * r + z;
    }
    TAGMA_INLINE void get(const T* c) {
      const auto* const v = reinterpret_cast<const vector*>(c);
      x = v[0], y = v[1], z = v[2];
    }
    TAGMA_INLINE void put(T* c) const {
      auto* const v = reinterpret_cast<vector*>(c);
      v[0] = x, v[1] = y, v[2] = z;
    }
  };

  /// Adds `count` products to each element of a tile.
  TAGMA_INLINE static void tile(const T* a, const T* b, std::int64_t count, T* c, std::int64_t ldc) {
    row s, t, u, v;
    s.get(c), t.get(c + ldc), u.get(c + 2 * ldc), v.get(c + 3 * ldc);
    for (std::int64_t p = 0; p < count; ++p, a += 4, b += wide) {
      const auto* const terms = reinterpret_cast<const vector*>(b);
      const vector x = terms[0], y = terms[1], z = terms[2];
      s.add(a[0], x, y, z);
      t.add(a[1], x, y, z);
      u.add(a[2], x, y, z);
      v.add(a[3], x, y, z);
    }
    s.put(c), t.put(c + ldc), u.put(c + 2 * ldc), v.put(c + 3 * ldc);
  }

  /// `count` elements of `n` rows or columns beside each other, zeros where there are fewer than Width.
  template <std::int64_t Width>
  TAGMA_INLINE static void copy(T* to, const T* from, std::int64_t n, std::int64_t beside, std::int64_t count,
                                std::int64_t next) {
    for (std::int64_t p = 0; p < count; ++p, from += next)
      for (std::int64_t i = 0; i < Width; ++i) *to++ = i < n ? from[i * beside] : T(0);
  }

  TAGMA_INLINE static void run(const gemm_args<T>* g) {
    alignas(64) T panel_a[std::size_t{high * depth}], panel_b[std::size_t{wide * depth}], part[std::size_t{4 * wide}]{};
    const std::int64_t a_row = g->transpose_a ? 1 : g->lda, a_next = g->transpose_a ? g->lda : 1;
    const std::int64_t b_column = g->transpose_b ? g->ldb : 1, b_next = g->transpose_b ? 1 : g->ldb;
    for (std::int64_t first_row = 0; first_row < g->m; first_row += high)
      for (std::int64_t first = 0; first < g->k; first += depth) {
        const std::int64_t end_row = first_row + high < g->m ? first_row + high : g->m;
        const std::int64_t count = g->k - first < depth ? g->k - first : depth;
        for (std::int64_t i = first_row; i < end_row; i += 4)
          copy<4>(panel_a + (i - first_row) * count, g->a + i * a_row + first * a_next, end_row - i, a_row, count,
                  a_next);
        for (std::int64_t j = 0; j < g->n; j += wide) {
          const std::int64_t columns = g->n - j < wide ? g->n - j : wide;
          if (columns == wide && b_column == 1)
            copy<wide>(panel_b, g->b + j + first * b_next, wide, 1, count, b_next);
          else
            copy<wide>(panel_b, g->b + j * b_column + first * b_next, columns, b_column, count, b_next);
          for (std::int64_t i = first_row; i < end_row; i += 4) {
            T* const c = g->c + i * g->ldc + j;
            const std::int64_t rows = end_row - i < 4 ? end_row - i : 4;
            const bool whole = rows == 4 && columns == wide;
            T* const to = whole ? c : part;
            const std::int64_t distance = whole ? g->ldc : wide;
            for (std::int64_t r = 0; r < rows; ++r)
              for (std::int64_t q = 0; q < columns; ++q) to[r * distance + q] = first == 0 ? T(0) : c[r * g->ldc + q];
            tile(panel_a + (i - first_row) * count, panel_b, count, to, distance);
            if (!whole)
              for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t q = 0; q < columns; ++q) c[r * g->ldc + q] = part[r * wide + q];
          }
        }
      }
  }
};

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
#else
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

/// The library behind float products, for `build_info`.
[[nodiscard]] constexpr std::string_view gemm_library() {
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
  return "oneDNN " TAGMA_TEXT(DNNL_VERSION_MAJOR) "." TAGMA_TEXT(DNNL_VERSION_MINOR);
#else
  return "Eigen";
#endif
}

/// One product on the calling thread.
template <class T>
void gemm(const gemm_args<T>& g) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) {
    for (std::int64_t i = 0; i < g.m; ++i) std::memset(g.c + i * g.ldc, 0, static_cast<std::size_t>(g.n) * sizeof(T));
    return;
  }
  if (detail::has_few_rows(g)) return detail::few_rows_product(g);
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
  if constexpr (std::is_same_v<T, float>)
    detail::library_gemm(g);
  else
    dispatch<detail::portable_gemm<T>>(&g);
#else
  detail::library_gemm<T>(g);
#endif
}

}  // namespace tagma::device::cpu
