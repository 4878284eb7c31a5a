// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a matrix product is given.

#include <cstdint>

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

  /// A product with one column as one with one row, which is the same in memory.
  void make_row() {
    if (n != 1 || m == 1 || ldc != 1 || !(transpose_b || ldb == 1)) return;
    const gemm_args old = *this;
    *this = {false, !old.transpose_a, 1, m, k, old.b, k, old.a, old.lda, c, m};
  }
};

}  // namespace tagma::device::cpu
