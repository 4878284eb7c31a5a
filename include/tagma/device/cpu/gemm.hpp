// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products of row-major matrices: oneDNN or Eigen where they are, our own loops for the types they lack.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tagma/base/error.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/math.hpp"

#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
#include <dlfcn.h>
#include <dnnl.h>
#elif __has_include(<Eigen/Core>)
#define TAGMA_HAS_EIGEN 1
#ifndef EIGEN_MPL2_ONLY
#define EIGEN_MPL2_ONLY
#endif
#ifndef EIGEN_DONT_PARALLELIZE
#define EIGEN_DONT_PARALLELIZE
#endif
#include <Eigen/Core>
#else
#error "tagma needs oneDNN (-DTAGMA_WITH_ONEDNN=1 -ldnnl) or Eigen (-I) for matrix products"
#endif

namespace tagma::device::cpu {

/// One product: c[m, n] = op(a) * op(b), all row-major; `ld` are the distances of rows in memory.
template <class T>
struct gemm_args {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  T* c = nullptr;
  std::int64_t ldc = 0;
};

namespace detail {

/// Register tiles of 4 rows by 8 columns over packed panels of `b`; for element types without a library.
template <class T>
struct portable_gemm {
  using P = pack<T, 8>;
  TAGMA_INLINE static void run(const gemm_args<T>* g, T* panel) {
    for (std::int64_t j = 0; j < g->n; j += 8) {
      const int columns = static_cast<int>(g->n - j < 8 ? g->n - j : 8);
      for (std::int64_t p = 0; p < g->k; ++p)
        for (int c = 0; c < 8; ++c)
          panel[p * 8 + c] = c >= columns     ? T(0)
                             : g->transpose_b ? g->b[(j + c) * g->ldb + p]
                                              : g->b[p * g->ldb + j + c];
      for (std::int64_t i = 0; i < g->m; i += 4) {
        const int rows = static_cast<int>(g->m - i < 4 ? g->m - i : 4);
        P sum[4] = {splat<P>(T(0)), splat<P>(T(0)), splat<P>(T(0)), splat<P>(T(0))};
        for (std::int64_t p = 0; p < g->k; ++p) {
          const P b = load<8>(panel + p * 8);
          for (int r = 0; r < rows; ++r)
            sum[r] =
                mul_add(splat<P>(g->transpose_a ? g->a[p * g->lda + i + r] : g->a[(i + r) * g->lda + p]), b, sum[r]);
        }
        for (int r = 0; r < rows; ++r) store(g->c + (i + r) * g->ldc + j, sum[r], columns);
      }
    }
  }
};

#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
/// oneDNN's own threads are ten times slower on small shapes than one thread of ours, so each of our threads tells the
/// OpenMP runtime behind it, once, to use one.
inline void use_one_openmp_thread() {
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

/// The name of the library behind float products, for `build_info`.
[[nodiscard]] constexpr std::string_view gemm_library() {
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
  return "oneDNN";
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
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN
  if constexpr (std::is_same_v<T, float>) return detail::library_gemm(g);
#else
  if constexpr (std::is_same_v<T, float>) return detail::library_gemm<T>(g);
#endif
  if constexpr (std::is_same_v<T, double>) {
    std::vector<T> panel(static_cast<std::size_t>(g.k) * 8);
    dispatch<detail::portable_gemm<T>>(&g, panel.data());
  }
}

}  // namespace tagma::device::cpu
