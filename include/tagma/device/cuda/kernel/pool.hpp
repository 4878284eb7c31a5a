// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Pooling on the GPU: maxima and means by cuDNN where it takes the padding, and everything by our own loops, of which
/// a thread makes an element of the result. Gradients are collected from the windows that see an element, in their
/// order, so nothing is added by atomics. They are never cuDNN's: it does not say which of several equal maxima
/// receives a gradient, and for the gradient of means it asks for the means, which the operation does not have.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/dnn_pooling.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"

namespace tagma::device {
namespace cuda::detail {

/// Where elements are. Windows belong to one image and one channel.
template <class T>
struct pool_reader {
  using C = compute_t<T>;
  const pool_problem& p;
  std::int64_t image, channel;

  [[nodiscard]] TAGMA_DEVICE C input(const T* x, std::int64_t row, std::int64_t column) const {
    return widen(x[((image * p.rows.in + row) * p.columns.in + column) * p.channels + channel]);
  }
  [[nodiscard]] TAGMA_DEVICE C output(const T* y, std::int64_t i, std::int64_t j) const {
    return widen(y[((image * p.rows.out + i) * p.columns.out + j) * p.channels + channel]);
  }
  /// Calls `some(row, column)` for the first place of the maximum of a window; the maximum of a window with a NaN is
  /// NaN, and that is its place.
  template <class Some>
  TAGMA_DEVICE void at_maximum(const T* x, const T* y, std::int64_t i, std::int64_t j, const Some& some) const {
    const pool_window w(p, i, j);
    const C top = output(y, i, j);
    for (std::int64_t a = w.top; a < w.bottom; ++a)
      for (std::int64_t b = w.left; b < w.right; ++b) {
        const C value = input(x, a, b);
        if (value == top || value != value) return some(a, b);
      }
  }
};

template <class T, pool_kind Kind>
struct pool_body {
  using C = compute_t<T>;
  static constexpr bool to_input = Kind == pool_kind::maximum_gradient || Kind == pool_kind::mean_gradient;
  struct arguments {
    const T* x;
    const T* y;
    const T* other;  ///< gradients of the output, or what is selected from
    T* out;
    pool_problem p;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const std::int64_t count = to_input ? a.p.input_elements() : a.p.output_elements();
    for (std::int64_t i = at.index(); i < count; i += at.count()) a.out[i] = narrow<T>(element(a, i));
  }

 private:
  TAGMA_DEVICE static C element(const arguments& a, std::int64_t index) {
    const pool_problem& p = a.p;
    const image_position at(index, to_input ? p.rows.in : p.rows.out, to_input ? p.columns.in : p.columns.out,
                            p.channels);
    const pool_reader<T> reader{p, at.image, at.channel};
    C total = 0;
    if constexpr (to_input) {
      std::int64_t first, last, left, right;
      p.rows.covering(at.row, first, last);
      p.columns.covering(at.column, left, right);
      for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t j = left; j < right; ++j) {
          if constexpr (Kind == pool_kind::mean_gradient)
            total += reader.output(a.other, i, j) * (C(1) / static_cast<C>(pool_window(p, i, j).count()));
          else
            reader.at_maximum(a.x, a.y, i, j, [&](std::int64_t row, std::int64_t column) {
              if (row == at.row && column == at.column) total += reader.output(a.other, i, j);
            });
        }
    } else if constexpr (Kind == pool_kind::select) {
      reader.at_maximum(a.x, a.y, at.row, at.column,
                        [&](std::int64_t row, std::int64_t column) { total = reader.input(a.other, row, column); });
    } else {
      const pool_window w(p, at.row, at.column);
      if constexpr (Kind == pool_kind::maximum) total = lowest<C>();
      for (std::int64_t row = w.top; row < w.bottom; ++row)
        for (std::int64_t column = w.left; column < w.right; ++column) {
          const C value = reader.input(a.x, row, column);
          total = Kind == pool_kind::maximum ? max(value, total) : total + value;
        }
      if constexpr (Kind == pool_kind::mean) total = total * (C(1) / static_cast<C>(w.count()));
    }
    return total;
  }
};

/// Kinds that cuDNN may compute.
[[nodiscard]] constexpr bool pools_forward(pool_kind kind) {
  return kind == pool_kind::maximum || kind == pool_kind::mean;
}

template <pool_kind Kind>
  requires(pools_forward(Kind))
owned<kernel_state> prepare_pool(const kernel_args& args, const run_context&) {
  auto state = make_owned<library_state<dnn_pooling>>();
  if (libraries_answer() && args.out.elements() > 0)
    state->library = dnn_pooling::make(pool_problem(Kind, args),
                                       Kind == pool_kind::maximum ? dnn_pool::maximum : dnn_pool::mean, args.out.type);
  return state;
}

template <class T, pool_kind Kind>
void pool(const kernel_args& args, const run_context& context) {
  using body = pool_body<T, Kind>;
  const auto tensor = [&](std::size_t i) { return args.in[i].template as<const T>(); };
  if (args.out.elements() == 0) return;
  constexpr bool simple = pools_forward(Kind);
  if constexpr (simple) {
    const dnn_pooling* const library = library_of<dnn_pooling>(args);
    if (library != nullptr && library->run(args.in[0].data, args.out.data, context)) return;
  }
  typename body::arguments a{tensor(0), nullptr, nullptr, args.out.as<T>(), pool_problem(Kind, args)};
  if constexpr (Kind == pool_kind::mean_gradient) a.other = tensor(0);
  if constexpr (Kind == pool_kind::select || Kind == pool_kind::maximum_gradient) a.y = tensor(1), a.other = tensor(2);
  launch<body>(geometry::over(args.out.elements()), context, a);
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::max_pool>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::pool<stored<Out>, pool_kind::maximum>,
                                      &cuda::detail::prepare_pool<pool_kind::maximum>};
};
template <>
struct kernel<on_cuda, ir::key<op::max_pool_gradient>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::pool<stored<Out>, pool_kind::maximum_gradient>};
};
template <>
struct kernel<on_cuda, ir::key<op::max_pool_select>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::pool<stored<Out>, pool_kind::select>};
};
template <>
struct kernel<on_cuda, ir::key<op::average_pool>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::pool<stored<Out>, pool_kind::mean>,
                                      &cuda::detail::prepare_pool<pool_kind::mean>};
};
template <>
struct kernel<on_cuda, ir::key<op::average_pool_gradient>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::pool<stored<Out>, pool_kind::mean_gradient>};
};

}  // namespace tagma::device
