// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions on the GPU: by cuDNN, and by plain loops where it has no algorithm that always gives the same bytes.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/dnn_convolution.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"

namespace tagma::device {
namespace cuda::detail {

/// Convolutions by plain loops. Of the gradient by the filter, a block makes an element; else a thread does.
template <class T, conv_role Role>
struct conv_body {
  using C = compute_t<T>;
  struct arguments {
    const T* a;
    const T* b;
    const T* bias;
    T* out;
    conv_problem p;
    conv_epilogue after;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& g) {
    if constexpr (Role == conv_role::filter_gradient) {
      auto* sums = reinterpret_cast<C*>(at.shared);
      for (std::int64_t i = at.block; i < g.p.filter_elements(); i += at.blocks) {
        sums[at.thread] = filter_share(at, g, i);
        for (int half = at.threads / 2; half > 0; half /= 2) {
          at.wait();
          if (at.thread < half) sums[at.thread] += sums[at.thread + half];
        }
        if (at.thread == 0) g.out[i] = narrow<T>(sums[0]);
        at.wait();
      }
    } else {
      const std::int64_t count = Role == conv_role::forward ? g.p.output_elements() : g.p.input_elements();
      for (std::int64_t i = at.index(); i < count; i += at.count())
        g.out[i] = narrow<T>(Role == conv_role::forward ? forward(g, i) : input_gradient(g, i));
    }
  }

 private:
  TAGMA_DEVICE static std::int64_t input_at(const conv_problem& p, std::int64_t image, std::int64_t row,
                                            std::int64_t column) {
    return ((image * p.rows.in + row) * p.columns.in + column) * p.channels;
  }
  TAGMA_DEVICE static std::int64_t output_at(const conv_problem& p, std::int64_t image, std::int64_t row,
                                             std::int64_t column) {
    return ((image * p.rows.out + row) * p.columns.out + column) * p.filters;
  }

  TAGMA_DEVICE static C forward(const arguments& g, std::int64_t index) {
    const conv_problem& p = g.p;
    const image_position at(index, p.rows.out, p.columns.out, p.filters);
    const std::int64_t channels = p.own_channels(), first = quotient(at.channel, p.own_filters()) * channels;
    std::int64_t top, bottom, left, right;
    p.rows.visible(at.row, top, bottom);
    p.columns.visible(at.column, left, right);
    C total = 0;
    for (std::int64_t a = top; a < bottom; ++a)
      for (std::int64_t b = left; b < right; ++b) {
        const T* x = g.a + input_at(p, at.image, p.rows.seen(at.row, a), p.columns.seen(at.column, b)) + first;
        const T* filter = g.b + (a * p.columns.size + b) * channels * p.filters + at.channel;
        for (std::int64_t c = 0; c < channels; ++c) total += widen(x[c]) * widen(filter[c * p.filters]);
      }
    if (g.bias != nullptr) total += widen(g.bias[at.channel]);
    return g.after.activated(total);
  }

  TAGMA_DEVICE static C input_gradient(const arguments& g, std::int64_t index) {
    const conv_problem& p = g.p;
    const image_position at(index, p.rows.in, p.columns.in, p.channels);
    const std::int64_t channels = p.own_channels(), filters = p.own_filters();
    const std::int64_t group = quotient(at.channel, channels), c = at.channel - group * channels;
    C total = 0;
    for (std::int64_t a = 0; a < p.rows.size; ++a) {
      const std::int64_t i = p.rows.seeing(at.row, a);
      if (i < 0) continue;
      for (std::int64_t b = 0; b < p.columns.size; ++b) {
        const std::int64_t j = p.columns.seeing(at.column, b);
        if (j < 0) continue;
        const T* dy = g.a + output_at(p, at.image, i, j) + group * filters;
        const T* filter = g.b + ((a * p.columns.size + b) * channels + c) * p.filters + group * filters;
        for (std::int64_t f = 0; f < filters; ++f) total += widen(dy[f]) * widen(filter[f]);
      }
    }
    return total;
  }

  /// What this thread adds to an element of the filter: its share of all positions.
  TAGMA_DEVICE static C filter_share(const place& thread, const arguments& g, std::int64_t index) {
    const conv_problem& p = g.p;
    const image_position at(index, p.rows.size, p.columns.size, p.own_channels() * p.filters);
    const std::int64_t c = quotient(at.channel, p.filters), f = at.channel - c * p.filters;
    const std::int64_t channel = quotient(f, p.own_filters()) * p.own_channels() + c;
    C total = 0;
    for (std::int64_t k = thread.thread; k < p.images * p.rows.out * p.columns.out; k += thread.threads) {
      const image_position o(k, p.rows.out, p.columns.out, 1);
      const std::int64_t row = p.rows.seen(o.row, at.row), column = p.columns.seen(o.column, at.column);
      if (row < 0 || row >= p.rows.in || column < 0 || column >= p.columns.in) continue;
      total += widen(g.a[input_at(p, o.image, row, column) + channel]) * widen(g.b[k * p.filters + f]);
    }
    return total;
  }
};

/// y = y + bias, and then the activation.
template <class T>
struct add_bias_body {
  struct arguments {
    T* y;
    const T* bias;
    std::int64_t count, n;
    conv_epilogue after;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    using C = compute_t<T>;
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) {
      const C sum = widen(a.y[i]) + widen(a.bias[i - quotient(i, a.n) * a.n]);
      a.y[i] = narrow<T>(a.after.activated(sum));
    }
  }
};

template <conv_role Role>
owned<kernel_state> prepare_convolution(const kernel_args& args, const run_context& context) {
  auto state = make_owned<library_state<dnn_convolution>>();
  const conv_problem p = conv_problem(Role, args);
  if (libraries_answer() && p.input_elements() > 0 && p.output_elements() > 0 && p.filter_elements() > 0)
    state->library = dnn_convolution::make(p, Role, args.out.type, context);
  return state;
}

template <class T, conv_role Role>
void convolve(const kernel_args& args, const run_context& context) {
  const dnn_convolution* const library = library_of<dnn_convolution>(args);
  const std::int64_t count = args.out.elements();
  if (count == 0) return;
  const conv_problem p = conv_problem(Role, args);
  const conv_epilogue after(Role, args);
  const T* bias = after.biased ? args.in[2].as<const T>() : nullptr;
  if (library != nullptr && library->run(args.in[0], args.in[1], args.out, context)) {
    if (after.biased)
      launch<add_bias_body<T>>(geometry::over(count), context, {args.out.as<T>(), bias, count, p.filters, after});
    return;
  }
  const geometry g = Role == conv_role::filter_gradient
                         ? geometry::blocks_for(count, block_threads * sizeof(compute_t<T>))
                         : geometry::over(count);
  launch<conv_body<T, Role>>(g, context,
                             {args.in[0].as<const T>(), args.in[1].as<const T>(), bias, args.out.as<T>(), p, after});
}

template <conv_role Role>
struct conv_kernel {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&convolve<stored<Out>, Role>, &prepare_convolution<Role>};
};

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::conv2d>> : cuda::detail::conv_kernel<conv_role::forward> {};
template <>
struct kernel<on_cuda, ir::key<op::conv2d_bias>> : cuda::detail::conv_kernel<conv_role::forward> {};
template <>
struct kernel<on_cuda, ir::key<op::conv2d_input_gradient>> : cuda::detail::conv_kernel<conv_role::input_gradient> {};
template <>
struct kernel<on_cuda, ir::key<op::conv2d_filter_gradient>> : cuda::detail::conv_kernel<conv_role::filter_gradient> {};

}  // namespace tagma::device
