// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of matmul_onednn.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/matmul_onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL product_split::product_split(std::int64_t m, std::int64_t n, std::int64_t k, bool repeated,
                                                   bool few_rows_or_terms)
    : rows(m), columns(n), all_rows(m), all_columns(n), few(few_rows_or_terms) {
  if (few) {
    const std::int64_t elements = n * (m > k ? m : k), wanted = elements / (repeated ? 1 << 15 : 1 << 17);
    if (wanted < 2) {
      if (elements < 1 << 16) return;
      help = runtime::helpers::awake;
    }
    const std::int64_t most = wanted < 2 ? 2 : wanted < 8 ? wanted : 8;
    n = n / least_columns;
    if (m > few_rows)
      rows = pieces(m, most);
    else
      columns = pieces(n, most) * least_columns;
    n = n * least_columns;  // the last part has what is less than a tile, too
  } else {
    // By multiplications, below which sharing costs more than it gains. Matrices in memory have fewer than 2^63.
    std::int64_t wanted = m * n * k / (repeated ? 1000000 : 4000000);
    if (wanted < 2) {
      if (m * n * k < (m > 16 ? 2000000 : 1000000)) return;  // up to 16 rows have the plain function anyway
      help = runtime::helpers::awake;
      wanted = 2;
    }
    for (int cuts = 0; cuts < 3 && wanted >= 2 && cut(); ++cuts) wanted /= 2;
  }
  across = pieces(n, columns);
  parts = across * pieces(m, rows);
}

TAGMA_COLD TAGMA_DECL bool product_split::cut() {
  const bool wide = columns >= 192;
  if (wide && (columns > 2 * rows || rows < 16))
    columns = pieces(pieces(columns, 2), 16) * 16;
  else if (const std::int64_t half = pieces(pieces(rows, 2), 8) * 8; rows - half >= 8)
    rows = half;
  else
    return false;
  return true;
}

#if TAGMA_ONEDNN_PRIMITIVES

TAGMA_COLD TAGMA_DECL owned<kernel_state> onednn_parts::make(const gemm_args<float>& g, bool repeated) {
  product_split split(g.m, g.n, g.k, repeated);
  if (split.parts > 1 && split.help != runtime::helpers::awake) return nullptr;
  // What is copied for each half, the second matrix or rows of the first one, is to cost little beside the products.
  const bool halves = split.parts > 1 && g.m > 16 && (!g.transpose_b || g.m >= 64) && (!g.transpose_a || g.n >= 32);
  split = product_split(g.m, g.n);
  if (halves) split.rows = pieces(g.m, 2), split.parts = 2, split.help = runtime::helpers::awake;
  use_one_openmp_thread();  // oneDNN plans for as many threads as there are now
  auto* const made = new onednn_parts(split);
  owned<kernel_state> state(made);
  return made->plan(g, halves && g.transpose_a) ? std::move(state) : nullptr;
}

TAGMA_COLD TAGMA_DECL void onednn_product::run(const void* a, const void* b, void* c) {
  use_one_openmp_thread();
  float* const memory = own_.size() > 0 ? reinterpret_cast<float*>(own_.data()) : scratch(needed());
  if (columns_ > 0) a = copied(static_cast<const float*>(a), memory + scratch_bytes_ / sizeof(float));
  set_dnnl_data(a_, a);
  set_dnnl_data(b_, b);
  set_dnnl_data(c_, c);
  set_dnnl_data(scratch_, memory);
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, a_.get()},
                                  {DNNL_ARG_WEIGHTS, b_.get()},
                                  {DNNL_ARG_DST, c_.get()},
                                  {DNNL_ARG_SCRATCHPAD, scratch_.get()}};
  check_dnnl(dnnl_primitive_execute(primitive_.get(), stream_.get(), 4, args), "a matrix product");
  check_dnnl(dnnl_stream_wait(stream_.get()), "a matrix product");
}

TAGMA_COLD TAGMA_DECL onednn_product::onednn_product(const dnnl_owned_desc& desc)
    : primitive_(make_dnnl_primitive(desc, "a matrix product")),
      stream_(make_dnnl_stream()),
      a_(make_dnnl_memory(layout_of(desc, dnnl_query_src_md))),
      b_(make_dnnl_memory(layout_of(desc, dnnl_query_weights_md))),
      c_(make_dnnl_memory(layout_of(desc, dnnl_query_dst_md))),
      scratch_(make_dnnl_memory(layout_of(desc, dnnl_query_scratchpad_md))),
      scratch_bytes_((bytes_of(layout_of(desc, dnnl_query_scratchpad_md)) + 63) & ~std::size_t{63}) {}

TAGMA_COLD TAGMA_DECL const float* onednn_product::copied(const float* a, float* to) const {
  for (std::int64_t i = 0; i < columns_; ++i)
    std::memcpy(to + i * rows_, a + i * next_, static_cast<std::size_t>(rows_) * sizeof *a);
  return to;
}

TAGMA_COLD TAGMA_DECL float* onednn_product::scratch(std::size_t bytes) {
  thread_local runtime::aligned_bytes memory;
  if (memory.size() < bytes) memory = runtime::aligned_bytes(bytes);
  return reinterpret_cast<float*>(memory.data());
}

TAGMA_COLD TAGMA_DECL dnnl_owned_layout onednn_product::layout(dnnl_data_type_t type, std::int64_t rows,
                                                               std::int64_t columns, std::int64_t distance,
                                                               bool transposed) {
  const dnnl_dims_t dims = {rows, columns}, strides = {transposed ? 1 : distance, transposed ? distance : 1};
  return make_dnnl_layout(2, dims, strides, type);
}

TAGMA_COLD TAGMA_DECL dnnl_owned_desc onednn_product::describe(dnnl_data_type_t type, const dnnl_owned_layout& a,
                                                               const dnnl_owned_layout& b, const dnnl_owned_layout& c,
                                                               const dnnl_owned_attr& attributes) {
  dnnl_owned_desc chosen = describe_dnnl_product(a.get(), b.get(), c.get(), attributes);
  if (chosen == nullptr) return nullptr;
  // "brg:avx512_core" for bfloat16 would be a processor that computes them as floats, slowly.
  const std::string_view by = implementation_of(chosen);
  const bool quick = type == dnnl_f32 || by.find("bf16") != by.npos || by.find("amx") != by.npos;
  return by.starts_with("brg") && quick ? std::move(chosen) : dnnl_owned_desc();
}

#endif

}  // namespace tagma::device::cpu::detail
