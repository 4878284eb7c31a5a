// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of matrices in batches on the CPU. Templates only, so that a program whose products are all of two matrices
/// does not compile them.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/matmul_onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/device/cpu/small_products.hpp"
#include "tagma/device/product.hpp"

namespace tagma::device::cpu::detail {

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

/// Where matrix `index` of the batch of `out` is in an operand, which may be stretched along it.
template <class Shape>
[[nodiscard, gnu::noinline]] std::int64_t offset_in_batch(const Shape& out, const Shape& s, std::int64_t index) {
  std::int64_t at = 0, stride = s[s.rank - 1] * s[s.rank - 2];
  for (int axis = out.rank - 3, own = s.rank - 3; own >= 0; --axis, --own) {
    const std::int64_t i = index % out[axis];
    index /= out[axis];
    if (s[own] != 1) at += i * stride;
    stride *= s[own];
  }
  return at;
}

/// The products of a batch. Where an operand is stretched along some of its axes alone, the way to its next matrix is
/// `irregular`. Products with one column have one row instead.
inline constexpr std::int64_t irregular = -1;
template <class T>
[[nodiscard]] small_batch<T> product_batch(const kernel_args& args) {
  const product_extents p(args);
  const shape& out = args.out.dims;
  small_batch<T> batch{describe_product<T>(args, p), out.elements(0, out.rank - 2), 0, 0, p.m * p.n};
  const auto next = [&](const shape& s) {
    const std::int64_t count = s.elements(0, s.rank - 2);
    return count == 1 ? 0 : count == batch.count ? s[s.rank - 2] * s[s.rank - 1] : irregular;
  };
  batch.a_next = next(args.in[0].dims), batch.b_next = next(args.in[1].dims);
  gemm_args<T>& g = batch.first;
  g.a = args.in[0].as<const T>(), g.b = args.in[1].as<const T>(), g.c = args.out.as<T>();
  g.make_row();
  if (g.m != p.m) std::swap(batch.a_next, batch.b_next);
  return batch;
}

/// Multiplications of a task of small products.
inline constexpr std::int64_t task_multiplications = std::int64_t{1} << 18;

/// Threads share whole matrices. 16-bit floats are for small ones alone.
template <class T>
void multiply_batch(const kernel_args& args, const run_context& context) {
  const shape &x = args.in[0].dims, &y = args.in[1].dims, &out = args.out.dims;
  const small_batch<T> all = product_batch<T>(args);
  const gemm_args<T>& g = all.first;
  const bool small = is_small(g), turned = g.m != out[out.rank - 2];
  const bool regular = all.a_next != irregular && all.b_next != irregular;
  [[maybe_unused]] bool few = false;
  if constexpr (sizeof(T) > 2) few = has_few_rows(g);
  // A row is copied or written for each, whatever the number of terms.
  const std::int64_t work = g.m * g.n * g.k + 8 * (g.m * g.k + g.k * g.n + g.m * g.n) + 64;
  const std::int64_t each = small && regular && work < task_multiplications ? task_multiplications / work : 1;
  context.threads->parallel_for(
      pieces(all.count, each),
      [&](std::int64_t t) {
        small_batch<T> part = all;
        const std::int64_t first = t * each;
        if (part.count - first < each)
          part.count -= first;
        else
          part.count = each;
        gemm_args<T>& one = part.first;
        if (regular) {
          one.a += first * all.a_next, one.b += first * all.b_next;
        } else {
          one.a += offset_in_batch(out, turned ? y : x, first), one.b += offset_in_batch(out, turned ? x : y, first);
        }
        one.c += first * all.c_next;
        if (small) return dispatch<small_products<T>, const small_batch<T>*>(&part);
        if constexpr (sizeof(T) > 2) gemm(one, few);
      },
      all.count < 8 * task_multiplications / work ? runtime::helpers::awake : runtime::helpers::woken);
}

#if TAGMA_ONEDNN_PRIMITIVES
/// Products of a batch of bfloat16 matrices by a primitive for each part of it. What is said of `bfloat_product` holds
/// for these.
template <class T>
class bfloat_batch final : public kernel_state {
 public:
  /// A null pointer if the processor does not multiply bfloat16, the matrices are tiny, or an operand is stretched
  /// along some axes alone.
  [[nodiscard]] static owned<kernel_state> make(const kernel_args& args) {
    const product_extents p(args);
    const shape &x = args.in[0].dims, &y = args.in[1].dims, &out = args.out.dims;
    const std::int64_t all = out.elements(0, out.rank - 2), size_a = p.m * p.k, size_b = p.k * p.n;
    const std::int64_t in_a = x.elements(0, x.rank - 2), in_b = y.elements(0, y.rank - 2);
    if (machine_level() != level::v4 || all == 0 || p.m * p.n * p.k <= least_multiplications) return nullptr;
    if ((in_a != 1 && in_a != all) || (in_b != 1 && in_b != all)) return nullptr;
    use_one_openmp_thread();
    const std::int64_t wanted = all * (size_a + size_b + p.m * p.n) / (1 << 17);
    const std::int64_t each = pieces(all, wanted < 1 ? 1 : wanted < most_parts ? wanted : most_parts);
    owned<bfloat_batch> made(new bfloat_batch);
    made->each_ = each, made->parts_ = pieces(all, each);
    made->a_ = in_a == 1 ? 0 : each * size_a, made->b_ = in_b == 1 ? 0 : each * size_b, made->c_ = each * p.m * p.n;
    for (std::int64_t t = 0; t < made->parts_; ++t) {
      const std::int64_t count = all - t * each < each ? all - t * each : each;
      const dnnl_owned_desc desc = onednn_product::describe(
          dnnl_bf16, layout(in_a == 1 ? 1 : count, p.m, p.k, p.transpose_a),
          layout(in_b == 1 ? 1 : count, p.k, p.n, p.transpose_b), layout(count, p.m, p.n, false));
      if (desc == nullptr) return nullptr;
      made->products_[t] = owned<onednn_product>(new onednn_product(desc));
    }
    return made;
  }

  void run(const kernel_args& args, const run_context& context) const {
    const T *const a = args.in[0].as<const T>(), *const b = args.in[1].as<const T>();
    T* const c = args.out.as<T>();
    const auto part = [&](std::int64_t t) { products_[t]->run(a + t * a_, b + t * b_, c + t * c_); };
    if (parts_ == 1) return part(0);
    context.threads->parallel_for(parts_, part);
  }

 private:
  [[nodiscard]] static dnnl_owned_layout layout(std::int64_t count, std::int64_t rows, std::int64_t columns,
                                                bool transposed) {
    const dnnl_dims_t dims = {count, rows, columns};
    const dnnl_dims_t strides = {rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
    return make_dnnl_layout(3, dims, strides, dnnl_bf16);
  }

  /// Of a product, up to which `small_products` is quicker.
  static constexpr std::int64_t least_multiplications = 512;
  static constexpr std::int64_t most_parts = 8;
  std::int64_t each_ = 0, parts_ = 0;
  std::int64_t a_ = 0, b_ = 0, c_ = 0;  ///< the way from one part to the next
  owned<onednn_product> products_[most_parts];
};
#endif

}  // namespace tagma::device::cpu::detail
