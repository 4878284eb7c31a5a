// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of matrices by primitives of oneDNN, made once for the extents of a run. Its plain function for
/// products is a little faster, but generates code for 20 ms when it is called first.

#include <type_traits>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/device/cpu/turned_halves.hpp"
#include "tagma/runtime/aligned_bytes.hpp"

namespace tagma::device::cpu::detail {

/// How one product is shared by threads. It depends on the extents alone, so that the bytes of the result do not depend
/// on the number of threads.
struct product_split {
  std::int64_t rows, columns;  ///< of each part but the last ones
  std::int64_t across = 1, parts = 1;
  std::int64_t all_rows, all_columns;
  bool few;
  runtime::helpers help = runtime::helpers::woken;

  /// @param repeated threads that help with one call are still there at the next
  /// @param few      the parts are for `few_rows_product`: whole tiles of columns, since few rows cost what reading the
  ///                 other matrix does, or rows, since few terms cost what writing the result does, row after row
  product_split(std::int64_t m, std::int64_t n, std::int64_t k, bool repeated, bool few = false);
  /// One part.
  product_split(std::int64_t m, std::int64_t n) : rows(m), columns(n), all_rows(m), all_columns(n), few(false) {}

  /// Part `t` of a product, which may have no addresses yet.
  template <class Product>
  [[nodiscard]] TAGMA_COLD Product part(const Product& whole, std::int64_t t) const {
    Product g = whole;
    const std::int64_t row = t / across * rows, column = t % across * columns;
    g.m = row + rows < all_rows ? rows : all_rows - row;
    g.n = t % across + 1 < across ? columns : all_columns - column;
    if (g.c == nullptr) return g;  // extents alone are asked for
    g.a += g.transpose_a ? row : row * g.lda;
    g.b += g.transpose_b ? column * g.ldb : column;
    g.c += row * g.ldc + column;
    return g;
  }

 private:
  /// Halves the parts, so that they stay nearly square: each copies its share of both matrices. Libraries like columns
  /// by the dozen.
  bool cut();
};

#if TAGMA_ONEDNN_PRIMITIVES

/// One product with its primitive.
class onednn_product final {
 public:
  /// @param desc a product of matrices of any element type, by `describe`
  explicit onednn_product(const dnnl_owned_desc& desc);

  /// The product as oneDNN would compute it with a primitive made for its extents; a null handle if it would not.
  template <class T>
  [[nodiscard]] static dnnl_owned_desc describe(const gemm_args<T>& g) {
    constexpr dnnl_data_type_t type = std::is_same_v<T, bfloat16> ? dnnl_bf16 : dnnl_f32;
    return describe(type, layout(type, g.m, g.k, g.lda, g.transpose_a), layout(type, g.k, g.n, g.ldb, g.transpose_b),
                    layout(type, g.m, g.n, g.ldc, false));
  }

  [[nodiscard]] static dnnl_owned_desc describe(dnnl_data_type_t type, const dnnl_owned_layout& a,
                                                const dnnl_owned_layout& b, const dnnl_owned_layout& c,
                                                const dnnl_owned_attr& attributes = make_dnnl_attributes());

  void run(const void* a, const void* b, void* c);
  /// From now on `run` copies the first matrix of floats, `count` columns of `rows` elements that lie `next` apart:
  /// oneDNN 2 has nothing quick where columns lie further apart than they are long.
  void copy_first(std::int64_t count, std::int64_t rows, std::int64_t next) {
    columns_ = count, rows_ = rows, next_ = next;
  }
  /// Takes its memory now, so that it takes none in whichever thread it runs later.
  void take_memory() { own_ = runtime::aligned_bytes(needed()); }

  [[nodiscard]] static dnnl_owned_layout layout(dnnl_data_type_t type, std::int64_t rows, std::int64_t columns,
                                                std::int64_t distance, bool transposed);

 private:
  /// Memory of this thread for copies of operands. All products share it, so that it stays in the cache.
  [[nodiscard]] static float* scratch(std::size_t bytes);
  [[nodiscard]] const float* copied(const float* a, float* to) const;
  [[nodiscard]] std::size_t needed() const {
    return scratch_bytes_ + static_cast<std::size_t>(columns_ * rows_) * sizeof(float);
  }

  dnnl_owned_primitive primitive_;
  dnnl_owned_stream stream_;
  dnnl_owned_memory a_, b_, c_, scratch_;
  std::size_t scratch_bytes_ = 0;
  std::int64_t columns_ = 0, rows_ = 0, next_ = 0;  ///< of a first matrix that is copied
  runtime::aligned_bytes own_;
};

/// A product whose parts have a primitive each. Those of floats are whole rows: oneDNN 2 has nothing quick for some
/// columns of a result or of the second matrix.
class onednn_parts final : public kernel_state {
 public:
  static constexpr std::int64_t most = 8;

  explicit onednn_parts(const product_split& split) : split_(split) {}

  /// A null pointer if the plain function is the better choice: for large products, which threads share whoever has to
  /// be woken for it, and where there is nothing quick.
  [[nodiscard]] static owned<kernel_state> make(const gemm_args<float>& g, bool repeated);

  /// A primitive for each part; false if there is nothing quick.
  /// @param copies whether each copies its rows of the first matrix, which is given column by column
  template <class T>
  [[nodiscard]] TAGMA_COLD bool plan(const gemm_args<T>& g, bool copies = false) {
    for (std::int64_t t = 0; t < split_.parts; ++t) {
      gemm_args<T> one = split_.part(g, t);
      if (copies) one.lda = one.m;
      const dnnl_owned_desc desc = onednn_product::describe(one);
      if (desc == nullptr) return false;
      parts_[t] = owned<onednn_product>(new onednn_product(desc));
      if (copies) parts_[t]->copy_first(one.k, one.m, g.lda);
      if (split_.parts > 1) parts_[t]->take_memory();
    }
    return true;
  }

  template <class T>
  TAGMA_COLD void run(const gemm_args<T>& g, const run_context& context) const {
    if (split_.parts == 1) return parts_[0]->run(g.a, g.b, g.c);
    context.threads->parallel_for(
        split_.parts,
        [&](std::int64_t t) {
          const gemm_args<T> one = split_.part(g, t);
          parts_[t]->run(one.a, one.b, one.c);
        },
        split_.help);
  }

 private:
  product_split split_;
  owned<onednn_product> parts_[most];
};

/// A product of bfloat16 matrices on a processor that multiplies them (AVX-512 BF16, AMX), many times as fast as
/// floats. Sums are those of floats and rounded once, in an order of oneDNN's; denormal numbers count as zero. A
/// template, so that programs without such products do not compile it.
/// @tparam T bfloat16
template <class T>
class bfloat_product final {
 public:
  /// A null pointer if the processor does not, or is not to (TAGMA_CPU_LEVEL).
  [[nodiscard]] TAGMA_COLD static owned<bfloat_product> make(const gemm_args<T>& g, bool repeated) {
    if (machine_level() != level::v4 || g.m == 0 || g.n == 0 || g.k == 0) return nullptr;
    use_one_openmp_thread();
    product_split split(g.m, g.n, pieces(g.k, 8), repeated);                     // what is quicker is shared later
    if (split.help == runtime::helpers::awake) split = product_split(g.m, g.n);  // half of the columns takes as long
    if (split.parts > onednn_parts::most) return nullptr;
    owned<bfloat_product> made(new bfloat_product(g, split));
    if (made->parts_.plan(g)) return made;
    if (!g.transpose_a) return nullptr;
    made->whole_.transpose_a = false, made->whole_.lda = g.k;
    if (!made->parts_.plan(made->whole_)) return nullptr;
    made->turned_ = heap_array<T>(g.m * g.k);
    return made;
  }

  void run(const gemm_args<T>& g, const run_context& context) {
    gemm_args<T> all = whole_;
    all.a = g.a, all.b = g.b, all.c = g.c;
    if (g.transpose_a && !all.transpose_a) {
      turn(g, context);
      all.a = turned_.data();
    }
    parts_.run(all, context);
  }

 private:
  explicit bfloat_product(const gemm_args<T>& g, const product_split& split) : whole_(g), parts_(split) {}

  /// The first matrix row by row, if it is given column by column: oneDNN 2 has nothing quick for that.
  void turn(const gemm_args<T>& g, const run_context& context) {
    constexpr std::int64_t high = 4 * turn_halves::strip;
    context.threads->parallel_for(pieces(g.m, high), [&](std::int64_t t) {
      const std::int64_t row = t * high, count = g.m - row < high ? g.m - row : high;
      dispatch<turn_halves>(g.a + row, g.lda, g.k, count, turned_.data() + row * g.k, g.k);
    });
  }

  gemm_args<T> whole_;  ///< without its addresses
  onednn_parts parts_;
  heap_array<T> turned_;
};

#endif

}  // namespace tagma::device::cpu::detail

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/matmul_onednn.ipp"
#endif
