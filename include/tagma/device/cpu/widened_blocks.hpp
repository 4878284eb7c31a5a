// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of large matrices of 16-bit floats: blocks of both are widened to floats, multiplied, and their product is
/// rounded once, so that what is wider stays in the cache. Templates only.

#include <cstdint>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/gemm_args.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/pack.hpp"
#include "tagma/runtime/aligned_bytes.hpp"

namespace tagma::device::cpu::detail {

/// Copies rows with a conversion. `Lanes` changes no byte.
template <int Lanes>
struct convert_rows_body {
  template <class From, class To>
  TAGMA_INLINE static void run(const From* from, std::int64_t from_row, To* to, std::int64_t to_row, std::int64_t rows,
                               std::int64_t n) {
    if (from_row == n && to_row == n) n *= rows, rows = n > 0;
    for (std::int64_t r = 0; r < rows; ++r, from += from_row, to += to_row)
      convert_elements_of<Lanes>::run(from, to, n);
  }
};
using convert_rows = with_wide<convert_rows_body<default_width>, convert_rows_body<wide_width>>;

/// A product in blocks of rows, or of rows and columns where rows are few, by its extents alone. Threads share them.
template <class S>
struct widened_blocks {
  gemm_args<S> whole;
  std::int64_t rows, columns, across, count;

  /// oneDNN copies what it multiplies by on each call. Where that stays in the cache, few rows at a time do as well,
  /// and take more if it is transposed.
  explicit widened_blocks(const gemm_args<S>& g) : whole(g), columns(g.n) {
    rows = g.k * g.n > 1 << 18 ? 256 : g.transpose_b ? 128 : 64;
    if (rows > g.m) rows = g.m;
    if (pieces(g.m, rows) < 4 && g.n >= 512) columns = pieces(pieces(g.n, 4), 64) * 64;
    across = pieces(g.n, columns), count = across * pieces(g.m, rows);
  }
  /// Floats that it keeps: the second matrix.
  [[nodiscard]] std::int64_t size() const { return whole.k * whole.n; }

  /// @param second room for `size` floats
  void widen(float* second, const run_context& context) const {
    constexpr std::int64_t each = 1 << 15;
    context.threads->parallel_for(pieces(size(), each), [&](std::int64_t t) {
      const std::int64_t first = t * each, n = size() - first < each ? size() - first : each;
      dispatch<convert_rows>(whole.b + first, n, second + first, n, std::int64_t{1}, n);
    });
  }
  /// @param second what `widen` has written
  void run(std::int64_t t, const float* second) const {
    const gemm_args<S>& g = whole;
    const std::int64_t top = t / across * rows, left = t % across * columns;
    const std::int64_t m = g.m - top < rows ? g.m - top : rows, n = g.n - left < columns ? g.n - left : columns;
    const std::int64_t row = g.transpose_a ? m : g.k;
    float *const first = space(m * (g.k + n)), *const product = first + m * g.k;
    dispatch<convert_rows>(g.a + (g.transpose_a ? top : top * g.lda), g.lda, first, row, g.transpose_a ? g.k : m, row);
    gemm(gemm_args<float>{g.transpose_a, g.transpose_b, m, n, g.k, first, row,
                          second + (g.transpose_b ? left * g.ldb : left), g.ldb, product, n},
         false);
    dispatch<convert_rows>(static_cast<const float*>(product), n, g.c + top * g.ldc + left, g.ldc, m, n);
  }

 private:
  /// Memory of this thread. All products share it, so that it stays in the cache.
  [[nodiscard]] static float* space(std::int64_t floats) {
    thread_local runtime::aligned_bytes memory;
    const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(floats);
    if (memory.size() < bytes) memory = runtime::aligned_bytes(bytes);
    return reinterpret_cast<float*>(memory.data());
  }
};

}  // namespace tagma::device::cpu::detail
