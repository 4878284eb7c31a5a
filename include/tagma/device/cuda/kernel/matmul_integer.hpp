// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of 8-bit integers on the GPU, by plain loops: cuBLASLt multiplies bytes of some alignments and extents
/// only.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/matmul.hpp"
#include "tagma/expr/op/matmul_integer.hpp"

namespace tagma::device {
namespace cuda::detail {

/// An element of the result each. Sums wrap around.
template <class A, class B>
struct integer_product_body {
  struct arguments {
    const A* a;
    const B* b;
    std::int32_t* c;
    product_problem p;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& g) {
    const product_problem& p = g.p;
    const std::int64_t one = p.m * p.n;
    for (std::int64_t i = at.index(); i < one * p.batch; i += at.count()) {
      const std::int64_t batch = quotient(i, one), row = quotient(i - batch * one, p.n);
      const std::int64_t column = i - batch * one - row * p.n;
      const A* a = g.a + batch * p.stride_a + (p.transpose_a ? row : row * p.k);
      const B* b = g.b + batch * p.stride_b + (p.transpose_b ? column * p.k : column);
      const std::int64_t step_a = p.transpose_a ? p.m : 1, step_b = p.transpose_b ? 1 : p.n;
      std::uint32_t total = 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        total += static_cast<std::uint32_t>(std::int32_t{a[k * step_a]} * std::int32_t{b[k * step_b]});
      g.c[batch * p.stride_c + row * p.n + column] = static_cast<std::int32_t>(total);
    }
  }
};

template <class A, class B>
void matmul_integer(const kernel_args& args, const run_context& context) {
  const batched_product product(args);
  if (product.is_empty()) return;
  const product_problem& p = product.problem;
  for (std::int64_t i = 0; i < product.calls(); ++i) {
    const batch_axis at = product.at(i);
    launch<integer_product_body<A, B>>(
        geometry::over(p.m * p.n * p.batch), context,
        {args.in[0].as<const A>() + at.a, args.in[1].as<const B>() + at.b, args.out.as<std::int32_t>() + at.c, p});
  }
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::matmul_integer>> {
  template <dtype, dtype A, dtype B>
  static constexpr kernel_entry entry{&cuda::detail::matmul_integer<stored<A>, stored<B>>};
};

}  // namespace tagma::device
