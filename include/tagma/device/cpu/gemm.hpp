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

/// Register tiles of 4 rows by 8 columns over packed panels of `b`; for element types without a library. Longer sums
/// are formed panel by panel, in `c`.
template <class T>
struct portable_gemm {
  using P = pack<T, 8>;
  static constexpr std::int64_t depth = 256;  // of a panel, which lies on the stack

  /// Adds `count` products to each of Rows times 8 elements of `c`, from column j of row i on.
  template <int Rows>
  TAGMA_INLINE static void tile(const gemm_args<T>* g, std::int64_t i, std::int64_t j, std::int64_t first,
                                std::int64_t count, const T* panel, int columns) {
    T* const c = g->c + i * g->ldc + j;
    const std::int64_t row = g->transpose_a ? 1 : g->lda, column = g->transpose_a ? g->lda : 1;
    const T* const a = g->a + i * row + first * column;
    P sum[static_cast<std::size_t>(Rows)];
    for (int r = 0; r < Rows; ++r) sum[r] = first > 0 ? load<8>(c + r * g->ldc, columns) : splat<P>(T(0));
    for (std::int64_t p = 0; p < count; ++p) {
      const P b = load<8>(panel + p * 8);
      for (int r = 0; r < Rows; ++r) sum[r] = mul_add(splat<P>(a[r * row + p * column]), b, sum[r]);
    }
    for (int r = 0; r < Rows; ++r) store(c + r * g->ldc, sum[r], columns);
  }

  TAGMA_INLINE static void run(const gemm_args<T>* g) {
    T panel[depth * 8];
    for (std::int64_t j = 0; j < g->n; j += 8) {
      const int columns = static_cast<int>(g->n - j < 8 ? g->n - j : 8);
      for (std::int64_t first = 0; first < g->k; first += depth) {
        const std::int64_t count = g->k - first < depth ? g->k - first : depth;
        for (std::int64_t p = 0; p < count; ++p)
          for (int c = 0; c < 8; ++c)
            panel[p * 8 + c] = c >= columns     ? T(0)
                               : g->transpose_b ? g->b[(j + c) * g->ldb + first + p]
                                                : g->b[(first + p) * g->ldb + j + c];
        for (std::int64_t i = 0; i < g->m; i += 4) {
          const int rows = static_cast<int>(g->m - i < 4 ? g->m - i : 4);
          rows == 4   ? tile<4>(g, i, j, first, count, panel, columns)
          : rows == 3 ? tile<3>(g, i, j, first, count, panel, columns)
          : rows == 2 ? tile<2>(g, i, j, first, count, panel, columns)
                      : tile<1>(g, i, j, first, count, panel, columns);
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
  if constexpr (std::is_same_v<T, float>) return detail::library_gemm(g);
#else
  if constexpr (std::is_same_v<T, float>) return detail::library_gemm<T>(g);
#endif
  if constexpr (std::is_same_v<T, double>) dispatch<detail::portable_gemm<T>>(&g);
}

}  // namespace tagma::device::cpu
