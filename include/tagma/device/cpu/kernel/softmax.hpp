// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Softmax, its logarithm and cross entropy on the CPU, row by row.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/softmax.hpp"

namespace tagma::device::cpu {

namespace detail {

/// What becomes of a row.
enum class row_kind : std::uint8_t { softmax, log_softmax };

/// The maximum of a row, and the sum of exp(x - maximum).
template <class T>
struct row_sums {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  TAGMA_INLINE static void run(const T* x, std::int64_t n, C& top, C& total) {
    top = static_cast<C>(x[0]);
    for (std::int64_t i = 1; i < n; ++i) {
      const auto v = static_cast<C>(x[i]);
      top = v > top || v != v ? v : top;
    }
    P sum = splat<P>(C(0));
    const P shift = splat<P>(top);
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) sum = sum + exp(load<8>(x + i) - shift);
    if (i < n) {
      C rest[8]{};
      const int count = static_cast<int>(n - i);
      store(rest, exp(load<8>(x + i, count) - shift), count);
      sum = sum + load<8>(static_cast<const C*>(rest));
    }
    total = reduce_add(sum);
  }
};

template <class T, row_kind Kind>
struct softmax_rows {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  TAGMA_INLINE static P map(const P& x, const P& shift, const P& scale) {
    if constexpr (Kind == row_kind::softmax)
      return exp(x - shift) * scale;
    else
      return x - shift - scale;
  }
  TAGMA_INLINE static void run(const T* x, T* y, std::int64_t rows, std::int64_t n) {
    for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
      C top{}, total{};
      row_sums<T>::run(x, n, top, total);
      const P shift = splat<P>(top);
      const P scale = Kind == row_kind::softmax ? splat<P>(C(1) / total) : log(splat<P>(total));
      std::int64_t i = 0;
      for (; i + 8 <= n; i += 8) store(y + i, map(load<8>(x + i), shift, scale));
      if (i < n) store(y + i, map(load<8>(x + i, static_cast<int>(n - i)), shift, scale), static_cast<int>(n - i));
    }
  }
};

template <class Body, class T>
void over_rows(const kernel_args& args, const run_context& context) {
  const shape& dims = args.in[0].dims;
  const std::int64_t n = dims[dims.rank - 1], rows = dims.elements(0, dims.rank - 1);
  if (n == 0 || rows == 0) return;
  const std::int64_t per_task = 1 + 8192 / n, tasks = pieces(rows, per_task);
  const auto some = [&](std::int64_t t) {
    const std::int64_t first = t * per_task, count = first + per_task < rows ? per_task : rows - first;
    dispatch<Body>(args.in[0].as<const T>() + first * n, args.out.as<T>() + first * n, count, n);
  };
  if (tasks <= 2)
    for (std::int64_t t = 0; t < tasks; ++t) some(t);
  else
    context.threads->parallel_for(tasks, some);
}

template <class Label>
[[nodiscard]] std::int64_t checked_label(const Label* labels, std::int64_t row, std::int64_t classes) {
  const auto label = static_cast<std::int64_t>(labels[row]);
  if (label < 0 || label >= classes)
    fail(status_code::out_of_range,
         {"label ", label, " of row ", row, " is not below the number of classes, ", classes});
  return label;
}

template <class T>
struct entropy_row {
  using C = compute_t<T>;
  TAGMA_INLINE static void run(const T* x, std::int64_t n, std::int64_t label, T* y) {
    C top{}, total{};
    row_sums<T>::run(x, n, top, total);
    const auto logarithm = log(splat<pack<C, 8>>(total));
    *y = T(lane(logarithm, 0) - (static_cast<C>(x[label]) - top));
  }
};

template <class T, class Label>
void sparse_cross_entropy(const kernel_args& args, const run_context&) {
  const shape& dims = args.in[0].dims;
  const std::int64_t n = dims[dims.rank - 1], rows = args.out.elements();
  const Label* labels = args.in[1].as<const Label>();
  for (std::int64_t r = 0; r < rows; ++r)
    dispatch<entropy_row<T>>(args.in[0].as<const T>() + r * n, n, checked_label(labels, r, n), args.out.as<T>() + r);
}

template <class T>
struct entropy_gradient_row {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  TAGMA_INLINE static void run(const T* x, std::int64_t n, std::int64_t label, C upstream, T* y) {
    C top{}, total{};
    row_sums<T>::run(x, n, top, total);
    const P shift = splat<P>(top), scale = splat<P>(upstream / total);
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) store(y + i, exp(load<8>(x + i) - shift) * scale);
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      store(y + i, exp(load<8>(x + i, rest) - shift) * scale, rest);
    }
    y[label] = T(static_cast<C>(y[label]) - upstream);
  }
};

template <class T, class Label>
void sparse_cross_entropy_gradient(const kernel_args& args, const run_context&) {
  const shape& dims = args.in[0].dims;
  const std::int64_t n = dims[dims.rank - 1], rows = args.in[1].elements();
  const Label* labels = args.in[1].as<const Label>();
  for (std::int64_t r = 0; r < rows; ++r)
    dispatch<entropy_gradient_row<T>>(args.in[0].as<const T>() + r * n, n, checked_label(labels, r, n),
                                      static_cast<compute_t<T>>(args.in[2].as<const T>()[r]), args.out.as<T>() + r * n);
}

}  // namespace detail

template <>
struct kernel<ir::key<op::softmax>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{
      &detail::over_rows<detail::softmax_rows<stored<Out>, detail::row_kind::softmax>, stored<Out>>};
};
template <>
struct kernel<ir::key<op::log_softmax>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{
      &detail::over_rows<detail::softmax_rows<stored<Out>, detail::row_kind::log_softmax>, stored<Out>>};
};
template <>
struct kernel<ir::key<op::sparse_softmax_cross_entropy>> {
  template <dtype Out, dtype, dtype Label, dtype...>
  static constexpr kernel_entry entry{&detail::sparse_cross_entropy<stored<Out>, stored<Label>>};
};
template <>
struct kernel<ir::key<op::sparse_softmax_cross_entropy_gradient>> {
  template <dtype Out, dtype, dtype Label, dtype...>
  static constexpr kernel_entry entry{&detail::sparse_cross_entropy_gradient<stored<Out>, stored<Label>>};
};

}  // namespace tagma::device::cpu
