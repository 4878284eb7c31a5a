// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions by oneDNN, in its C interface. Images keep the layout [batch, height, width, channels]; filters are
/// brought into the layout that oneDNN prefers on every call, or when they have changed where that is known.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/kernel/conv_problem.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/runtime/stored_variable.hpp"

#if TAGMA_ONEDNN_PRIMITIVES

namespace tagma::device::cpu::detail {

/// One convolution, its batch or the rows of its images split into tasks that run at once.
class onednn_convolution {
 public:
  /// A null pointer if oneDNN has nothing better than a reference implementation.
  /// @param lasting the filter is the same until `writes` of the context is another number
  /// @param threads that may have some images each
  static owned<onednn_convolution> make(const conv_problem& p, conv_role role, const conv_epilogue& after, bool lasting,
                                        std::int64_t threads);

  /// Arranges the filter for this run, which has some images at a time.
  void begin(const float* filter, const run_context& context);
  /// `a` and `b` are the operands of the role, in the order of its operation. `begin` was first where `args` has some
  /// images of them.
  void run(const float* a, const float* b, const float* bias, float* out, const kernel_args& args,
           const run_context& context);

 private:
  /// What parts have in common: images of so many rows.
  struct kind {
    std::int64_t images = 0;
    conv_axis rows;
    dnnl_owned_desc desc;
    dnnl_owned_primitive primitive;
  };
  /// What does one part of a kind after the other; tasks share primitives, never memory.
  struct worker {
    dnnl_owned_stream stream;
    dnnl_owned_memory a, b, bias, out, scratch;
    dnnl_exec_arg_t args[5]{};
    int arg_count = 0;
  };
  /// Elements of the operands in front of those of a part.
  struct offsets {
    std::int64_t a = 0, b = 0, out = 0;
  };

  onednn_convolution(const conv_problem& p, conv_role role, bool bias);

  [[nodiscard]] float* arranged() const { return reinterpret_cast<float*>(arranged_.data()); }
  [[nodiscard]] float* partial(std::int64_t t) const;
  /// The number of the kind of a part, `most_kinds` if there are too many.
  [[nodiscard]] std::size_t kind_of(std::int64_t t);
  [[nodiscard]] offsets before(std::int64_t t) const;
  /// The implementation that oneDNN picks for a kind; a null handle if it has only a reference.
  [[nodiscard]] dnnl_owned_desc describe(const kind& k, const conv_epilogue& after) const;

  void create(std::int64_t threads);

  void reorder(dnnl_memory_t from, dnnl_memory_t to);
  void arrange_filter(const float* filter);
  void collect_filter(float* out);

  [[nodiscard]] bool is(conv_role role) const { return plays(role_, role); }

  conv_problem p_;
  conv_role role_;
  bool biased_;
  bool lasting_ = false;
  std::uint64_t arranged_of_ = ~std::uint64_t{0};  // `writes` of the filter that is arranged
  dnnl_owned_layout filter_, any_filter_;
  dnnl_owned_primitive reorder_;
  dnnl_owned_stream stream_;
  dnnl_owned_memory inner_memory_, outer_memory_;
  runtime::aligned_bytes arranged_, scratch_;
  std::size_t arranged_bytes_ = 0;
  heap_array<worker> workers_;  // for each that is at work at once, one for each kind
  static constexpr std::size_t most_kinds = 6;
  kind kinds_[most_kinds];  // whole parts and the last one, or bands by the padding that they see
  std::size_t kinds_used_ = 0;
};

}  // namespace tagma::device::cpu::detail

#endif

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/conv_onednn.ipp"
#endif
