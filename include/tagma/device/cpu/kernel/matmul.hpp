// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Matrix products on the CPU.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/few_rows_half.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/matmul_batch.hpp"
#include "tagma/device/cpu/kernel/matmul_onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/device/cpu/widened_blocks.hpp"
#include "tagma/device/product.hpp"

namespace tagma::device {
namespace cpu::detail {

/// The longest rows of a second matrix whose terms are added in parts, whose sums have places on the stack.
template <class T>
inline constexpr std::int64_t most_parted = 8192 / static_cast<std::int64_t>(sizeof(T));

/// How many parts the terms of a product are added in: of one row by a matrix with rows that are short and many. Who
/// reads a part of each of these rows reads slower than who reads some of them whole, and other threads the others.
template <class T>
[[nodiscard]] std::int64_t parts_of_terms(const gemm_args<T>& g) {
  if (g.m > 1 || g.transpose_b || g.n > most_parted<T>) return 1;
  const std::int64_t wanted = g.n * g.k / (1 << 17);
  return wanted < 8 ? wanted : 8;
}

/// Adds the terms in parts, and the sums of these in their order.
template <class T>
TAGMA_COLD void add_parts_of_terms(const gemm_args<T>& g, std::int64_t parts, const run_context& context) {
  alignas(64) T sums[7 * most_parted<T>];
  const std::int64_t terms = pieces(g.k, parts), next = g.transpose_a ? g.lda : 1;
  parts = pieces(g.k, terms);
  context.threads->parallel_for(parts, [&](std::int64_t t) {
    gemm_args<T> part = g;
    const std::int64_t first = t * terms;
    part.a += first * next, part.b += first * g.ldb;
    if (t > 0) part.c = sums + (t - 1) * g.n;
    part.k = t + 1 < parts ? terms : g.k - first;
    few_rows_product(part);
  });
  for (std::int64_t t = 1; t < parts; ++t)
    for (std::int64_t j = 0; j < g.n; ++j) g.c[j] += sums[(t - 1) * g.n + j];
}

template <class T>
void split_gemm(const gemm_args<T>& g, bool repeated, const run_context& context) {
  const bool few = has_few_rows(g);
  if (few)
    if (const std::int64_t parts = parts_of_terms(g); parts > 1) return add_parts_of_terms(g, parts, context);
  const product_split split(g.m, g.n, g.k, repeated, few);
  if (split.parts == 1) return gemm(g, few);
  context.threads->parallel_for(
      split.parts, [&](std::int64_t t) { gemm(split.part(g, t), few); }, split.help);
}

/// The product of two matrices.
template <class T>
[[nodiscard]] gemm_args<T> plain_product(const kernel_args& args) {
  gemm_args<T> g = describe_product<T>(args, product_extents(args));
  g.a = args.in[0].as<const T>(), g.b = args.in[1].as<const T>(), g.c = args.out.as<T>();
  g.make_row();
  return g;
}

/// A product that is one of two matrices.
template <class T>
void matmul_one(const kernel_args& args, const run_context& context) {
  const gemm_args<T> g = plain_product<T>(args);
#if TAGMA_ONEDNN_PRIMITIVES
  if constexpr (std::is_same_v<T, float>)
    if (args.state != nullptr) return static_cast<const onednn_parts*>(args.state)->run(g, context);
#endif
  split_gemm(g, args.repeated, context);
}

/// How the rows of a whole product of which `g` has some are shared.
template <class T>
[[nodiscard]] product_split split_of_rows(const kernel_args& args, gemm_args<T> g, std::int64_t all) {
  g.m = g.m / args.out.dims[0] * all;
  return product_split(g.m, g.n, g.k, args.repeated, has_few_rows(g));
}

/// The parts of a product that have some of its rows.
template <class T>
TAGMA_COLD void multiply_rows(const kernel_args& args) {
  const gemm_args<T> g = plain_product<T>(args);
  product_split split = split_of_rows(args, g, args.all);
  split.all_rows = g.m, split.parts = split.across * pieces(g.m, split.rows);
  for (std::int64_t t = 0; t < split.parts; ++t) gemm(split.part(g, t), split.few);
}

template <class T>
void matmul(const kernel_args& args, const run_context& context) {
  if (!product_extents(args).one) return multiply_batch<T>(args, context);
  args.all > 0 ? multiply_rows<T>(args) : matmul_one<T>(args, context);
}

/// @copydoc runtime::step_rows
template <class T>
TAGMA_COLD runtime::step_rows rows_of_product(const kernel_args& args, const run_context*) {
  const product_extents p(args);
  const shape &x = args.in[0].dims, &y = args.in[1].dims, &out = args.out.dims;
  if (args.out.elements() == 0 || p.k == 0) return {};
  if (!p.one) return {x.rank == out.rank && y.rank == out.rank && x[0] == out[0] && y[0] == out[0], 2};
  const gemm_args<T> g = plain_product<T>(args);
  const std::int64_t of_row = p.m / out[0];
  // What is one part, or two for who is awake, has primitives of its own, but for few terms.
  const product_split split = split_of_rows(args, g, out[0]);
  if (p.transpose_a || g.m != p.m || split.parts < 2 || (split.help == runtime::helpers::awake && !split.few) ||
      split.rows % of_row != 0)
    return {};
  return {split.rows / of_row};
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
  return has_few_rows(g) || is_plain(g) ? nullptr : onednn_parts::make(g, args.repeated);
}
#endif

/// A product of 16-bit floats is one of its own, or widens its operands once; each sum is rounded once.
template <class T>
struct half_product final : kernel_state {
  TAGMA_COLD half_product(const kernel_args& args, bool widens)
      : values(!widens ? 0 : args.in[0].elements() + args.in[1].elements() + args.out.elements()),
        in{args.in[0], args.in[1]},
        wide(args) {
    if (!widens) return;
    in[0] = {reinterpret_cast<std::byte*>(values.data()), dtype::float32, in[0].dims};
    in[1] = {in[0].data + 4 * args.in[0].elements(), dtype::float32, in[1].dims};
    wide.out = {in[1].data + 4 * args.in[1].elements(), dtype::float32, wide.out.dims};
    wide.in = in;
  }
  heap_array<float> values;
  operand in[2];
  kernel_args wide;
  owned<kernel_state> product;
  bool few = false, blocks = false;  ///< it is one of `few_rows_of_halves`, or of `widened_blocks`
#if TAGMA_ONEDNN_PRIMITIVES
  owned<bfloat_product<T>> whole;  ///< what is not widened at all
  owned<kernel_state> batch;       ///< the same of a batch, a `bfloat_batch`
#endif
};

/// Multiplications from which on operands are widened block by block.
inline constexpr std::int64_t large_half_product = std::int64_t{1} << 22;

template <class T>
TAGMA_COLD owned<kernel_state> prepare_half_product(const kernel_args& args,
                                                    [[maybe_unused]] const run_context& context) {
  const product_extents p(args);
  gemm_args<T> g;
  if (p.one) g = plain_product<T>(args);
  const bool few = p.one && has_few_rows_of_halves(g);
#if TAGMA_ONEDNN_PRIMITIVES
  if constexpr (std::is_same_v<T, bfloat16>)
    if (p.one && !(few && g.m == 1))
      if (auto whole = bfloat_product<T>::make(g, args.repeated); whole != nullptr) {
        auto state = make_owned<half_product<T>>(args, false);
        state->whole = std::move(whole);
        return state;
      }
#endif
  const bool blocks = p.one && !few && g.m * g.n * g.k >= large_half_product;
  auto state = make_owned<half_product<T>>(args, !few && !blocks);
  state->few = few, state->blocks = blocks;
  if (few) return state;
  if (blocks) {
    state->values = heap_array<float>(widened_blocks(g).size());
    return state;
  }
#if TAGMA_ONEDNN_PRIMITIVES
  state->product = prepare_product(state->wide, context);
  state->wide.state = state->product.get();
#endif
  return state;
}

/// A product that is not widened as a whole.
template <class T>
void multiply_halves(const gemm_args<T>& g, const half_product<T>& state, bool repeated, const run_context& context) {
  if (state.few) {
    const product_split split(g.m, g.n, g.k, repeated, true);
    const auto part = [&](std::int64_t t) {
      const gemm_args<T> one = split.part(g, t);
      dispatch<few_rows_of_halves<T>, const gemm_args<T>*>(&one);
    };
    return split.parts == 1 ? part(0) : context.threads->parallel_for(split.parts, part, split.help);
  }
  const widened_blocks<T> blocks(g);
  blocks.widen(state.values.data(), context);
  context.threads->parallel_for(blocks.count, [&](std::int64_t t) { blocks.run(t, state.values.data()); });
}

/// @tparam Batches whether it may be a batch
template <class T, bool Batches>
void matmul_half(const kernel_args& args, const run_context& context) {
  if constexpr (Batches)
    if (args.state == nullptr) return multiply_batch<T>(args, context);
  const auto& state = *static_cast<const half_product<T>*>(args.state);
#if TAGMA_ONEDNN_PRIMITIVES
  if constexpr (std::is_same_v<T, bfloat16>) {
    if constexpr (Batches)
      if (state.batch != nullptr) return static_cast<const bfloat_batch<T>*>(state.batch.get())->run(args, context);
    if (state.whole != nullptr) return state.whole->run(plain_product<T>(args), context);
  }
#endif
  if (state.few || state.blocks) return multiply_halves(plain_product<T>(args), state, args.repeated, context);
  for (std::size_t i = 0; i < 2; ++i)
    dispatch<convert_elements>(args.in[i].as<const T>(), state.in[i].template as<float>(), args.in[i].elements());
  if constexpr (Batches)
    matmul<float>(state.wide, context);
  else
    matmul_one<float>(state.wide, context);
  dispatch<convert_elements>(state.wide.out.template as<const float>(), args.out.as<T>(), args.out.elements());
}

/// Nothing for small matrices, which are widened one by one.
template <class T>
TAGMA_COLD owned<kernel_state> prepare_half_batch(const kernel_args& args, const run_context& context) {
  const product_extents p(args);
  if (p.one) return prepare_half_product<T>(args, context);
#if TAGMA_ONEDNN_PRIMITIVES
  if constexpr (std::is_same_v<T, bfloat16>)
    if (owned<kernel_state> batch = bfloat_batch<T>::make(args); batch != nullptr) {
      auto state = make_owned<half_product<T>>(args, false);
      state->batch = std::move(batch);
      return state;
    }
#endif
  return is_small(product_batch<T>(args).first) ? nullptr : prepare_half_product<T>(args, context);
}

/// Only one of both is compiled.
template <class T, bool Batches>
constexpr runtime::kernel_function products() {
  if constexpr (Batches)
    return &matmul<T>;
  else
    return &matmul_one<T>;
}

template <class T, bool Batches>
constexpr runtime::rows_function rows_entry() {
  if constexpr (Batches)
    return &rows_of_product<T>;
  else
    return nullptr;
}

template <dtype Out, bool Batches>
constexpr kernel_entry product_entry() {
  using T = stored<Out>;
  if constexpr (size_of(Out) == 2 && Batches)
    return {&matmul_half<T, true>, &prepare_half_batch<T>};
  else if constexpr (size_of(Out) == 2)
    return {&matmul_half<T, false>, &prepare_half_product<T>};
#if TAGMA_ONEDNN_PRIMITIVES
  else if constexpr (Out == dtype::float32)
    return {.run = products<T, Batches>(), .prepare = &prepare_product, .rows = rows_entry<T, Batches>()};
#endif
  else
    return {.run = products<T, Batches>(), .rows = rows_entry<T, Batches>()};
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::matmul>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry = cpu::detail::product_entry<Out, true>();
  /// The kernel of results with two axes, for which no loops over batches are compiled.
  static constexpr int matrix_rank = 2;
  template <dtype Out, dtype...>
  static constexpr kernel_entry matrix_entry = cpu::detail::product_entry<Out, false>();
};

}  // namespace tagma::device
