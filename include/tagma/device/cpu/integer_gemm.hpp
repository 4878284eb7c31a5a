// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of matrices of 8-bit integers by loops of our own. Sums are exact, modulo 2^32.

#include <cstddef>
#include <cstdint>

#include "tagma/base/config.hpp"

namespace tagma::device::cpu {

/// One product: c[m, n] = op(a) * op(b), all row-major; `ld` are the distances of rows in memory.
struct integer_gemm_args {
  bool transpose_a = false, transpose_b = false;
  bool signed_a = true, signed_b = true;  ///< int8, or else uint8
  std::int64_t m = 0, n = 0, k = 0;
  const std::byte* a = nullptr;
  std::int64_t lda = 0;
  const std::byte* b = nullptr;
  std::int64_t ldb = 0;
  std::int32_t* c = nullptr;
  std::int64_t ldc = 0;
};

/// True of a processor that multiplies pairs and adds the products by one instruction (AVX-512 VNNI), where loops use
/// it.
[[nodiscard]] bool adds_products_at_once();

/// One product on the calling thread.
/// @param at_once whether to use that instruction
void integer_gemm(const integer_gemm_args& g, bool at_once = adds_products_at_once());

}  // namespace tagma::device::cpu

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/integer_gemm.ipp"
#endif
