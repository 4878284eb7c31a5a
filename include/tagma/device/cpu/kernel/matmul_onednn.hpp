// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of float matrices by primitives of oneDNN, made once for the extents of a run. Its plain function for
/// products is a little faster, but generates code for 20 ms when it is called first.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/runtime/aligned_bytes.hpp"

namespace tagma::device::cpu::detail {

/// How one product is shared by threads. It depends on the extents alone, so that the bytes of the result do not depend
/// on the number of threads.
struct product_split {
  std::int64_t rows, columns;  ///< of each part but the last ones
  std::int64_t across = 1, parts = 1;
  std::int64_t all_rows, all_columns;

  /// @param repeated threads that help with one call are still there at the next
  [[gnu::noinline]] product_split(std::int64_t m, std::int64_t n, std::int64_t k, bool repeated)
      : rows(m), columns(n), all_rows(m), all_columns(n) {
    // Multiplications, below which sharing costs more than it gains.
    const double least = repeated ? 1e6 : 8e6;
    double wanted = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / least;
    if (wanted < 2) return;
    for (int cuts = 0; cuts < 3 && wanted >= 2 && cut(); ++cuts) wanted /= 2;
    across = pieces(n, columns);
    parts = across * pieces(m, rows);
  }

  /// Part `t` of a product.
  template <class T>
  [[nodiscard]] gemm_args<T> part(const gemm_args<T>& whole, std::int64_t t) const {
    gemm_args<T> g = whole;
    const std::int64_t row = t / across * rows, column = t % across * columns;
    g.m = row + rows < all_rows ? rows : all_rows - row;
    g.n = column + columns < all_columns ? columns : all_columns - column;
    g.a += g.transpose_a ? row : row * g.lda;
    g.b += g.transpose_b ? column * g.ldb : column;
    g.c += row * g.ldc + column;
    return g;
  }

 private:
  /// Halves the parts, so that they stay nearly square: each copies its share of both matrices. Libraries like columns
  /// by the dozen.
  bool cut() {
    const bool wide = columns >= 192;
    if (wide && (columns > 2 * rows || rows < 16))
      columns = pieces(pieces(columns, 2), 16) * 16;
    else if (rows >= 16)
      rows = pieces(pieces(rows, 2), 8) * 8;
    else
      return false;
    return true;
  }
};

#if TAGMA_ONEDNN_PRIMITIVES

/// One product with its primitive. Products that threads share are left to the plain function: parts of a matrix, whose
/// rows lie further apart than they are long, have no better primitive.
class onednn_product final : public kernel_state {
 public:
  /// A null pointer if the plain function is the better choice.
  [[nodiscard]] TAGMA_COLD static owned<kernel_state> make(const gemm_args<float>& g, bool repeated) {
    if (product_split(g.m, g.n, g.k, repeated).parts > 1) return nullptr;
    use_one_openmp_thread();  // oneDNN plans for as many threads as there are now
    const dnnl_owned_desc desc = describe(g);
    if (desc == nullptr) return nullptr;
    return owned<kernel_state>(new onednn_product(desc));
  }

  void run(const float* a, const float* b, float* c) {
    use_one_openmp_thread();
    set_dnnl_data(a_, a);
    set_dnnl_data(b_, b);
    set_dnnl_data(c_, c);
    set_dnnl_data(scratch_, scratch(scratch_bytes_));
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, a_.get()},
                                    {DNNL_ARG_WEIGHTS, b_.get()},
                                    {DNNL_ARG_DST, c_.get()},
                                    {DNNL_ARG_SCRATCHPAD, scratch_.get()}};
    check_dnnl(dnnl_primitive_execute(primitive_.get(), stream_.get(), 4, args), "a matrix product");
    check_dnnl(dnnl_stream_wait(stream_.get()), "a matrix product");
  }

 private:
  TAGMA_COLD explicit onednn_product(const dnnl_owned_desc& desc)
      : primitive_(make_dnnl_primitive(desc, "a matrix product")),
        stream_(make_dnnl_stream()),
        a_(make_dnnl_memory(layout_of(desc, dnnl_query_src_md))),
        b_(make_dnnl_memory(layout_of(desc, dnnl_query_weights_md))),
        c_(make_dnnl_memory(layout_of(desc, dnnl_query_dst_md))),
        scratch_(make_dnnl_memory(layout_of(desc, dnnl_query_scratchpad_md))),
        scratch_bytes_(bytes_of(layout_of(desc, dnnl_query_scratchpad_md))) {}

  /// Memory of this thread for copies of operands. All products share it, so that it stays in the cache.
  [[nodiscard]] static float* scratch(std::size_t bytes) {
    thread_local runtime::aligned_bytes memory;
    if (memory.size() < bytes) memory = runtime::aligned_bytes(bytes);
    return reinterpret_cast<float*>(memory.data());
  }

  [[nodiscard]] static dnnl_owned_layout layout(std::int64_t rows, std::int64_t columns, std::int64_t distance,
                                                bool transposed) {
    const dnnl_dims_t dims = {rows, columns}, strides = {transposed ? 1 : distance, transposed ? distance : 1};
    return make_dnnl_layout(2, dims, strides);
  }
  [[nodiscard]] static dnnl_owned_desc describe(const gemm_args<float>& g) {
    dnnl_owned_desc chosen = describe_dnnl_product(layout(g.m, g.k, g.lda, g.transpose_a).get(),
                                                   layout(g.k, g.n, g.ldb, g.transpose_b).get(),
                                                   layout(g.m, g.n, g.ldc, false).get(), make_dnnl_attributes());
    if (chosen == nullptr || !implementation_of(chosen).starts_with("brg")) return nullptr;
    return chosen;
  }

  dnnl_owned_primitive primitive_;
  dnnl_owned_stream stream_;
  dnnl_owned_memory a_, b_, c_, scratch_;
  std::size_t scratch_bytes_ = 0;
};

#endif

}  // namespace tagma::device::cpu::detail
