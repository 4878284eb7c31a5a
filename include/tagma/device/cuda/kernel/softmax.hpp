// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Softmax and its logarithm on the GPU by cuDNN, cross entropy by our own loops, which stand in for cuDNN as well: 32
/// threads for a short row, a block for a long one.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/dnn_softmax.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/rows.hpp"
#include "tagma/expr/op/softmax.hpp"

namespace tagma::device {
namespace cuda::detail {

/// The threads that share a row.
struct row_threads {
  static constexpr int warp = 32;
  static constexpr int of_block = block_threads / warp;  ///< warps of a block
  const place& at;
  bool whole_block;

  [[nodiscard]] TAGMA_DEVICE int lane() const { return whole_block ? at.thread : at.thread % warp; }
  [[nodiscard]] TAGMA_DEVICE int lanes() const { return whole_block ? at.threads : warp; }
  /// Rows that the block works at together, and which of them is this thread's.
  [[nodiscard]] TAGMA_DEVICE int rows() const { return whole_block ? 1 : at.threads / warp; }
  [[nodiscard]] TAGMA_DEVICE int row() const { return whole_block ? 0 : at.thread / warp; }

  /// Joins the values of all threads of the row, in one order for all of them. All threads of the block call it.
  template <class C, class Join>
  [[nodiscard]] TAGMA_DEVICE C join(C value, const Join& two) const {
    for (int mask = 1; mask < warp; mask *= 2) value = two(value, at.exchange(value, mask));
    if (!whole_block) return value;
    auto* shared = reinterpret_cast<C*>(at.shared);
    if (at.thread % warp == 0) shared[at.thread / warp] = value;
    at.wait();
    value = shared[0];
    for (int i = 1; i < at.threads / warp; ++i) value = two(value, shared[i]);
    at.wait();
    return value;
  }
};

template <class C>
struct larger_of {
  TAGMA_DEVICE C operator()(C a, C b) const { return max(a, b); }
};
template <class C>
struct sum_of {
  TAGMA_DEVICE C operator()(C a, C b) const { return a + b; }
};

/// What becomes of a row.
enum class row_kind : std::uint8_t { softmax, log_softmax, entropy, entropy_gradient };

/// Rows of `n` numbers each. Entropies are given labels, their gradients also a number for each row.
template <class T, row_kind Kind, class Label>
struct row_body {
  using C = compute_t<T>;
  struct arguments {
    const T* x;
    T* y;
    std::int64_t rows, n;
    const Label* labels;
    const T* upstream;
    run_parameters* run;
    std::int32_t source;
    bool whole_block;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const row_threads threads{at, a.whole_block};
    const std::int64_t n = a.n;
    for (std::int64_t first = at.block * threads.rows(); first < a.rows; first += at.blocks * threads.rows()) {
      const std::int64_t row = first + threads.row(), end = row < a.rows ? n : 0;
      const T* x = a.x + row * n;
      C top = lowest<C>(), total = 0;
      for (std::int64_t i = threads.lane(); i < end; i += threads.lanes()) top = max(widen(x[i]), top);
      top = threads.join(top, larger_of<C>());
      for (std::int64_t i = threads.lane(); i < end; i += threads.lanes()) total += exp(widen(x[i]) - top);
      total = threads.join(total, sum_of<C>());
      if (row < a.rows) finish(threads, a, row, x, top, total);
    }
  }

 private:
  TAGMA_DEVICE static void finish(const row_threads& threads, const arguments& a, std::int64_t row, const T* x, C top,
                                  C total) {
    const std::int64_t n = a.n;
    std::int64_t label = -1;
    if constexpr (Kind == row_kind::entropy || Kind == row_kind::entropy_gradient) {
      label = static_cast<std::int64_t>(a.labels[row]);
      if (label < 0 || label >= n) {
        if (threads.lane() == 0) report_index(a.run, a.source, row);
        label = -1;
      }
    }
    if constexpr (Kind == row_kind::entropy) {
      if (threads.lane() == 0) a.y[row] = narrow<T>(label < 0 ? C(0) : log(total) - (widen(x[label]) - top));
    } else {
      C scale = C(1) / total, upstream = 0;
      if constexpr (Kind == row_kind::log_softmax) scale = log(total);
      if constexpr (Kind == row_kind::entropy_gradient) {
        upstream = widen(a.upstream[row]);
        scale = upstream / total;
      }
      T* y = a.y + row * n;
      for (std::int64_t i = threads.lane(); i < n; i += threads.lanes()) {
        const C shifted = widen(x[i]) - top;
        if constexpr (Kind == row_kind::log_softmax)
          y[i] = narrow<T>(shifted - scale);
        else
          y[i] = narrow<T>(exp(shifted) * scale - (i == label ? upstream : C(0)));
      }
    }
  }
};

template <row_kind Kind>
  requires(Kind == row_kind::softmax || Kind == row_kind::log_softmax)
owned<kernel_state> prepare_rows(const kernel_args& args, const run_context&) {
  auto state = make_owned<library_state<dnn_softmax>>();
  const row_extents x(args.in[0].dims);
  // Doubles are left to our loops, with logarithms, which cuDNN was seen to have 2e-12 off, and without.
  if (libraries_answer() && x.rows > 0 && x.n > 0 && args.out.type != dtype::float64)
    state->library = dnn_softmax::make(x.rows, x.n, Kind == row_kind::log_softmax, args.out.type);
  return state;
}

template <class T, row_kind Kind, class Label = std::uint8_t>
void over_rows(const kernel_args& args, const run_context& context) {
  using C = compute_t<T>;
  const auto [rows, n] = row_extents(args.in[0].dims);
  if (rows == 0 || (n == 0 && Kind != row_kind::entropy)) return;
  if constexpr (Kind == row_kind::softmax || Kind == row_kind::log_softmax) {
    const dnn_softmax* const library = library_of<dnn_softmax>(args);
    if (library != nullptr && library->run(args.in[0].data, args.out.data, context)) return;
  }
  constexpr std::int64_t short_row = 1024;
  typename row_body<T, Kind, Label>::arguments a{
      args.in[0].as<const T>(), args.out.as<T>(), rows, n, nullptr, nullptr, nullptr, args.source, n > short_row};
  if constexpr (Kind == row_kind::entropy || Kind == row_kind::entropy_gradient) {
    a.labels = args.in[1].as<const Label>();
    a.run = resources_of(context).parameters();
  }
  if constexpr (Kind == row_kind::entropy_gradient) a.upstream = args.in[2].as<const T>();
  launch<row_body<T, Kind, Label>>(
      geometry::blocks_for(pieces(rows, a.whole_block ? 1 : row_threads::of_block), row_threads::of_block * sizeof(C)),
      context, a);
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::softmax>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::over_rows<stored<Out>, cuda::detail::row_kind::softmax>,
                                      &cuda::detail::prepare_rows<cuda::detail::row_kind::softmax>};
};
template <>
struct kernel<on_cuda, ir::key<op::log_softmax>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::over_rows<stored<Out>, cuda::detail::row_kind::log_softmax>,
                                      &cuda::detail::prepare_rows<cuda::detail::row_kind::log_softmax>};
};
template <>
struct kernel<on_cuda, ir::key<op::sparse_softmax_cross_entropy>> {
  template <dtype Out, dtype, dtype Label, dtype...>
  static constexpr kernel_entry entry{
      .run = &cuda::detail::over_rows<stored<Out>, cuda::detail::row_kind::entropy, stored<Label>>, .reads_run = true};
};
template <>
struct kernel<on_cuda, ir::key<op::sparse_softmax_cross_entropy_gradient>> {
  template <dtype Out, dtype, dtype Label, dtype...>
  static constexpr kernel_entry entry{
      .run = &cuda::detail::over_rows<stored<Out>, cuda::detail::row_kind::entropy_gradient, stored<Label>>,
      .reads_run = true};
};

}  // namespace tagma::device
