// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products on the CPU.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/matmul_onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/device/product.hpp"

namespace tagma::device {
namespace cpu::detail {

template <class T>
void split_gemm(const gemm_args<T>& g, bool repeated, const run_context& context) {
  const bool few = has_few_rows(g);
  const product_split split(g.m, g.n, g.k, repeated, few);
  if (split.parts == 1) return gemm(g, few);
  context.threads->parallel_for(split.parts, [&](std::int64_t t) { gemm(split.part(g, t), few); });
}

/// A product without its addresses, of matrices that are whole in memory.
template <class T>
[[nodiscard]] gemm_args<T> describe_product(const kernel_args& args, const product_extents& p) {
  const shape &x = args.in[0].dims, &y = args.in[1].dims;
  gemm_args<T> g;
  g.transpose_a = p.transpose_a;
  g.transpose_b = p.transpose_b;
  g.m = p.m;
  g.n = p.n;
  g.k = p.k;
  g.lda = x[x.rank - 1];
  g.ldb = y[y.rank - 1];
  g.ldc = g.n;
  return g;
}

/// The product of two matrices.
template <class T>
[[nodiscard]] gemm_args<T> plain_product(const kernel_args& args) {
  gemm_args<T> g = describe_product<T>(args, product_extents(args));
  g.a = args.in[0].as<const T>(), g.b = args.in[1].as<const T>(), g.c = args.out.as<T>();
  g.make_row();
  return g;
}

/// Where matrix `index` of the batch of `out` is in an operand, which may be stretched along it.
[[nodiscard]] std::int64_t offset_in_batch(const shape& out, const shape& s, std::int64_t index);

template <class T>
void matmul(const kernel_args& args, const run_context& context) {
  const shape &x = args.in[0].dims, &y = args.in[1].dims, &out = args.out.dims;
  const product_extents p(args);
  gemm_args<T> g = describe_product<T>(args, p);
  const T* a = args.in[0].as<const T>();
  const T* b = args.in[1].as<const T>();
  T* c = args.out.as<T>();
  if (p.one) {
    g.a = a, g.b = b, g.c = c;
    g.make_row();
#if TAGMA_ONEDNN_PRIMITIVES
    if constexpr (std::is_same_v<T, float>)
      if (args.state != nullptr) return static_cast<onednn_product*>(args.state)->run(g.a, g.b, g.c);
#endif
    return split_gemm(g, args.repeated, context);
  }
  context.threads->parallel_for(out.elements(0, out.rank - 2), [&](std::int64_t i) {
    gemm_args<T> one = g;
    one.a = a + offset_in_batch(out, x, i);
    one.b = b + offset_in_batch(out, y, i);
    one.c = c + i * g.m * g.n;
    gemm(one);
  });
}

#if TAGMA_ONEDNN_PRIMITIVES
/// True for a product with so few rows, by so large a matrix, that oneDNN's plain function is quicker than its
/// primitive, which first copies a second matrix that is transposed, or whose rows are a power of two apart. The first
/// call of that function in a process takes 30 ms, so smaller products, which differ little, keep the primitive.
[[nodiscard]] constexpr bool is_plain(const gemm_args<float>& g) {
  return g.k * g.n >= 65536 && g.m <= (g.transpose_b ? 15 : 16);
}

TAGMA_COLD inline owned<kernel_state> prepare_product(const kernel_args& args, const run_context&) {
  const product_extents p(args);
  if (!p.one || p.m == 0 || p.n == 0 || p.k == 0) return nullptr;
  gemm_args<float> g = describe_product<float>(args, p);
  g.make_row();
  return has_few_rows(g) || is_plain(g) ? nullptr : onednn_product::make(g, args.repeated);
}
#endif

/// Operands of 16-bit floats are widened once, the product is rounded once.
struct half_product final : kernel_state {
  explicit half_product(const kernel_args& args, bool widens);
  heap_array<float> values;
  operand in[2];
  kernel_args wide;
  owned<kernel_state> product;
#if TAGMA_ONEDNN_PRIMITIVES
  owned<bfloat_product> whole;  ///< what is not widened at all
#endif
};

owned<kernel_state> prepare_half_product(const kernel_args& args, [[maybe_unused]] const run_context& context);

template <class T>
void matmul_half(const kernel_args& args, const run_context& context) {
  const auto& state = *static_cast<const half_product*>(args.state);
#if TAGMA_ONEDNN_PRIMITIVES
  if constexpr (std::is_same_v<T, bfloat16>)
    if (state.whole != nullptr) return state.whole->run(plain_product<T>(args), context);
#endif
  for (std::size_t i = 0; i < 2; ++i)
    dispatch<convert_elements>(args.in[i].as<const T>(), state.in[i].as<float>(), args.in[i].elements());
  matmul<float>(state.wide, context);
  dispatch<convert_elements>(state.wide.out.as<const float>(), args.out.as<T>(), args.out.elements());
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::matmul>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry = [] {
    if constexpr (size_of(Out) == 2)
      return kernel_entry{&cpu::detail::matmul_half<stored<Out>>, &cpu::detail::prepare_half_product};
#if TAGMA_ONEDNN_PRIMITIVES
    else if constexpr (Out == dtype::float32)
      return kernel_entry{&cpu::detail::matmul<float>, &cpu::detail::prepare_product};
#endif
    else
      return kernel_entry{&cpu::detail::matmul<stored<Out>>};
  }();
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/matmul.ipp"
#endif
