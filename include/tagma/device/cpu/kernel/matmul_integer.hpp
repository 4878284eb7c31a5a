// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of 8-bit integers on the CPU: by oneDNN where the processor adds products of bytes in 32 bits (VNNI, AMX)
/// and oneDNN's sums are exact; else, and where they are small, by loops of our own.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/integer_gemm.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/matmul_onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/expr/op/matmul_integer.hpp"

namespace tagma::device {
namespace cpu::detail {

#if TAGMA_ONEDNN_PRIMITIVES
/// Products of 8-bit integers by primitives of oneDNN: of one pair of matrices, some rows each, or of many pairs, some
/// pairs each. As many as there are threads: however they are shared, the sums are the same.
class onednn_integer_product final : public kernel_state {
 public:
  /// A null pointer where our own loops are quicker, or the only ones that are exact.
  [[nodiscard]] static owned<kernel_state> make(const kernel_args& args, const run_context& context);

  void run(const kernel_args& args, const run_context& context) const;

 private:
  onednn_integer_product() = default;

  /// Makes the primitives; false if none is exact and quick.
  [[nodiscard]] bool plan(const integer_gemm_args& g);
  /// One product by one primitive. A first matrix that is given column by column is turned before: oneDNN 2 has nothing
  /// quick for that.
  void multiply(const integer_gemm_args& g, std::int64_t part) const;

  static constexpr std::int64_t most_parts = 8;
  std::int64_t rows_ = 0;   ///< of each part of a product, but perhaps the last
  std::int64_t count_ = 0;  ///< of primitives
  owned<onednn_product> parts_[most_parts];
  heap_array<std::byte> turned_;  ///< rows for each of them
};
#endif

[[nodiscard]] owned<kernel_state> prepare_matmul_integer(const kernel_args& args, const run_context& context);
void matmul_integer(const kernel_args& args, const run_context& context);

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::matmul_integer>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::matmul_integer, &cpu::detail::prepare_matmul_integer};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/matmul_integer.ipp"
#endif
