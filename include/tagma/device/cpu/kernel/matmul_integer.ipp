// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of matmul_integer.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/matmul_integer.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"

namespace tagma::device::cpu::detail {

/// A product of whole matrices, the first ones of those there are.
[[nodiscard]] TAGMA_DECL integer_gemm_args describe_integer_product(const kernel_args& args, const product_extents& p) {
  const shape &x = args.in[0].dims, &y = args.in[1].dims;
  integer_gemm_args g;
  g.transpose_a = p.transpose_a, g.transpose_b = p.transpose_b;
  g.signed_a = args.in[0].type == dtype::int8, g.signed_b = args.in[1].type == dtype::int8;
  g.m = p.m, g.n = p.n, g.k = p.k;
  g.a = args.in[0].data, g.b = args.in[1].data, g.c = args.out.as<std::int32_t>();
  g.lda = x[x.rank - 1], g.ldb = y[y.rank - 1], g.ldc = g.n;
  return g;
}

/// The same, of those at position `i` of the axes before them.
[[nodiscard]] TAGMA_DECL integer_gemm_args integer_product_at(integer_gemm_args g, const kernel_args& args,
                                                              std::int64_t i) {
  const shape& out = args.out.dims;
  g.a += offset_in_batch(out, args.in[0].dims, i), g.b += offset_in_batch(out, args.in[1].dims, i);
  g.c += i * g.m * g.n;
  return g;
}

#if TAGMA_ONEDNN_PRIMITIVES

TAGMA_COLD TAGMA_DECL owned<kernel_state> onednn_integer_product::make(const kernel_args& args,
                                                                       const run_context& context) {
  const product_extents p(args);
  const integer_gemm_args g = describe_integer_product(args, p);
  // The primitives take no uint8 as second matrix, and are no quicker where a product takes a microsecond.
  constexpr double small = 1 << 16;
  const double terms = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  if (machine_level() == level::baseline || !g.signed_b || terms < small) return nullptr;
  use_one_openmp_thread();
  const shape& out = args.out.dims;
  // Parts of a product have whole rows: oneDNN 2 has nothing quick for columns, and copies the second matrix for each.
  const double shared = terms / (args.repeated ? 8e6 : 32e6);
  std::int64_t count = !p.one ? out.elements(0, out.rank - 2) : shared < 64 ? static_cast<std::int64_t>(shared) : 64;
  if (count == 0 && !p.one) return nullptr;
  std::int64_t most = context.threads->threads() < most_parts ? context.threads->threads() : most_parts;
  if (p.one && pieces(g.m, 32) < most) most = pieces(g.m, 32);
  count = count < 1 ? 1 : count < most ? count : most;
  owned<onednn_integer_product> made(new onednn_integer_product);
  made->rows_ = p.one ? pieces(pieces(g.m, count), 16) * 16 : g.m;
  made->count_ = p.one ? pieces(g.m, made->rows_) : count;
  return made->plan(g) ? std::move(made) : nullptr;
}

TAGMA_COLD TAGMA_DECL bool onednn_integer_product::plan(const integer_gemm_args& g) {
  for (std::int64_t t = 0; t < count_; ++t) {
    const std::int64_t last = g.m - (count_ - 1) * rows_, rows = t + 1 == count_ && last > 0 ? last : rows_;
    const auto a =
        onednn_product::layout(g.signed_a ? dnnl_s8 : dnnl_u8, rows, g.k, g.transpose_a ? g.k : g.lda, false);
    const auto b = onednn_product::layout(dnnl_s8, g.k, g.n, g.ldb, g.transpose_b);
    const auto c = onednn_product::layout(dnnl_s32, rows, g.n, g.ldc, false);
    const dnnl_owned_desc desc = describe_dnnl_product(a.get(), b.get(), c.get(), make_dnnl_attributes());
    if (desc == nullptr) return false;
    const std::string_view by = implementation_of(desc);
    const auto has = [by](const char* what) { return by.find(what) != by.npos; };
    // Without VNNI and AMX it adds two products in 16 bits, which saturates. With VNNI alone, int8 as first matrix is
    // shifted to uint8, and the sums that follow from that pass through float: those of 2^10 terms are no larger than
    // 2^24.
    const bool exact = has("amx") || (has("vnni") && (!g.signed_a || g.k <= 1024));
    if (!by.starts_with("brg") || !exact || (machine_level() != level::v4 && !has("avx2"))) return false;
    parts_[t] = owned<onednn_product>(new onednn_product(desc));
  }
  if (g.transpose_a) turned_ = heap_array<std::byte>(count_ * rows_ * g.k);
  return true;
}

TAGMA_DECL void onednn_integer_product::multiply(const integer_gemm_args& g, std::int64_t part) const {
  const std::byte* a = g.a;
  if (g.transpose_a) {
    std::byte* const rows = turned_.data() + part * rows_ * g.k;
    for (std::int64_t row = 0; row < g.m; row += block_bytes)
      move_block<std::uint8_t>(rows + row * g.k, g.a + row, g.m - row < block_bytes ? g.m - row : block_bytes, g.k, g.k,
                               g.lda);
    a = rows;
  }
  parts_[part]->run(a, g.b, g.c);
}

TAGMA_DECL void onednn_integer_product::run(const kernel_args& args, const run_context& context) const {
  const product_extents p(args);
  const integer_gemm_args all = describe_integer_product(args, p);
  if (p.one && count_ == 1) return multiply(all, 0);
  const shape& out = args.out.dims;
  context.threads->parallel_for(count_, [&](std::int64_t t) {
    if (p.one) {
      integer_gemm_args g = all;
      const std::int64_t row = t * rows_;
      g.m = g.m - row < rows_ ? g.m - row : rows_;
      g.a += g.transpose_a ? row : row * g.lda;
      g.c += row * g.ldc;
      return multiply(g, t);
    }
    const std::int64_t products = out.elements(0, out.rank - 2);
    for (std::int64_t i = t * products / count_; i < (t + 1) * products / count_; ++i)
      multiply(integer_product_at(all, args, i), t);
  });
}

#endif

TAGMA_COLD TAGMA_DECL owned<kernel_state> prepare_matmul_integer([[maybe_unused]] const kernel_args& args,
                                                                 [[maybe_unused]] const run_context& context) {
#if TAGMA_ONEDNN_PRIMITIVES
  return onednn_integer_product::make(args, context);
#else
  return nullptr;
#endif
}

TAGMA_DECL void matmul_integer(const kernel_args& args, const run_context& context) {
#if TAGMA_ONEDNN_PRIMITIVES
  if (args.state != nullptr) return static_cast<const onednn_integer_product*>(args.state)->run(args, context);
#endif
  const product_extents p(args);
  const integer_gemm_args g = describe_integer_product(args, p);
  const shape& out = args.out.dims;
  if (!p.one)
    return context.threads->parallel_for(out.elements(0, out.rank - 2),
                                         [&](std::int64_t i) { integer_gemm(integer_product_at(g, args, i)); });
  const product_split split(g.m, g.n, pieces(g.k, 2), args.repeated);
  if (split.parts == 1 || context.threads->threads() == 1) return integer_gemm(g);
  context.threads->parallel_for(
      split.parts, [&](std::int64_t t) { integer_gemm(split.part(g, t)); }, split.help);
}

}  // namespace tagma::device::cpu::detail
