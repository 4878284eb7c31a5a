// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Updates of optimizers on the CPU: one pass over a variable, its slots and its gradient.

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/nn/optimizers.hpp"

namespace tagma::device::cpu {

namespace detail {

/// Numbers of an update, in the element type of the computation.
template <class C>
struct update_numbers {
  C rate{};
  C number[8]{};
};

/// The rule of an update over packs: `v` the variable, `s` its slots, `g` the gradient.
template <class Update>
struct update_rule;

template <>
struct update_rule<op::apply_sgd> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P*, const P& g, const N& h) {
    v = v - g * h.rate;
  }
};
template <>
struct update_rule<op::apply_momentum> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P* s, const P& g, const N& h) {
    s[0] = s[0] * h.number[0] + g;
    v = h.number[1] != 0 ? v - (g + s[0] * h.number[0]) * h.rate : v - s[0] * h.rate;
  }
};
template <>
struct update_rule<op::apply_adagrad> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P* s, const P& g, const N& h) {
    s[0] = s[0] + g * g;
    v = v - g * h.rate / sqrt(s[0]);
  }
};
template <>
struct update_rule<op::apply_adadelta> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P* s, const P& g, const N& h) {
    const auto rho = h.number[0], rest = 1 - h.number[0], epsilon = h.number[1];
    s[0] = s[0] * rho + g * g * rest;
    const P step = sqrt(s[1] + epsilon) / sqrt(s[0] + epsilon) * g;
    v = v - step * h.rate;
    s[1] = s[1] * rho + step * step * rest;
  }
};
template <>
struct update_rule<op::apply_rmsprop> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P* s, const P& g, const N& h) {
    s[0] = s[0] + (g * g - s[0]) * (1 - h.number[0]);
    s[1] = s[1] * h.number[1] + g * h.rate / sqrt(s[0] + h.number[2]);
    v = v - s[1];
  }
};
template <>
struct update_rule<op::apply_centered_rmsprop> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P* s, const P& g, const N& h) {
    s[0] = s[0] + (g * g - s[0]) * (1 - h.number[0]);
    s[2] = s[2] + (g - s[2]) * (1 - h.number[0]);
    s[1] = s[1] * h.number[1] + g * h.rate / sqrt(s[0] - s[2] * s[2] + h.number[2]);
    v = v - s[1];
  }
};
/// `rate` is lr * sqrt(1 - beta2^t) / (1 - beta1^t).
template <>
struct update_rule<op::apply_adam> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P* s, const P& g, const N& h) {
    s[0] = s[0] + (g - s[0]) * (1 - h.number[0]);
    s[1] = s[1] + (g * g - s[1]) * (1 - h.number[1]);
    v = v - s[0] * h.rate / (sqrt(s[1]) + h.number[2]);
  }
};
/// `number[4]` is 1 - lr * weight_decay.
template <>
struct update_rule<op::apply_adamw> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P* s, const P& g, const N& h) {
    v = v * h.number[4];
    update_rule<op::apply_adam>::apply(v, s, g, h);
  }
};
template <>
struct update_rule<op::apply_ftrl> {
  template <class P, class N>
  TAGMA_INLINE static void apply(P& v, P* s, const P& g, const N& h) {
    using C = typename P::value_type;
    const P shrunk = g + v * (2 * h.number[4]);
    const P next = s[0] + g * g;
    const P exponent = splat<P>(-h.number[0]);
    const P power = pow(next, exponent), before = pow(s[0], exponent);
    s[1] = s[1] + shrunk - (power - before) / splat<P>(h.rate) * v;
    const P zero = splat<P>(C(0)), l1 = splat<P>(h.number[2]);
    const P signed_l1 = select(s[1] > zero, l1, select(s[1] < zero, -l1, zero));
    const P moved = (signed_l1 - s[1]) / (power / splat<P>(h.rate) + splat<P>(2 * h.number[3]));
    v = select(abs(s[1]) > l1, moved, zero);
    s[0] = next;
  }
};

template <class Update, class T>
struct update_body {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  static constexpr std::size_t slots = Update::slots.size();
  using pointers = T* const*;

  TAGMA_INLINE static void run(T* v, pointers slot_pointers, const T* g, const update_numbers<C>* numbers,
                               std::int64_t first, std::int64_t last) {
    // Copies, which no store can change: what the loop does with them is done before it.
    const update_numbers<C> h = *numbers;
    T* slot[slots + 1]{};
    for (std::size_t k = 0; k < slots; ++k) slot[k] = slot_pointers[k];
    std::int64_t i = first;
    for (; i + 8 <= last; i += 8) {
      P value = load<8>(v + i), s[slots + 1];
      for (std::size_t k = 0; k < slots; ++k) s[k] = load<8>(slot[k] + i);
      update_rule<Update>::apply(value, s, load<8>(g + i), h);
      for (std::size_t k = 0; k < slots; ++k) store(slot[k] + i, s[k]);
      store(v + i, value);
    }
    if (i < last) {
      const int n = static_cast<int>(last - i);
      P value = load<8>(v + i, n), s[slots + 1];
      for (std::size_t k = 0; k < slots; ++k) s[k] = load<8>(slot[k] + i, n);
      update_rule<Update>::apply(value, s, load<8>(g + i, n), h);
      for (std::size_t k = 0; k < slots; ++k) store(slot[k] + i, s[k], n);
      store(v + i, value, n);
    }
  }
};

template <class Update, class T>
void apply_update(const kernel_args& args, const run_context& context) {
  using C = compute_t<T>;
  constexpr std::size_t slots = Update::slots.size();
  T* slot[slots + 1]{};
  for (std::size_t k = 0; k < slots; ++k) slot[k] = args.in[1 + k].template as<T>();
  const auto number = [&](std::size_t i) { return *args.in[slots + 2 + i].template as<const double>(); };
  double learning_rate = number(0);
  const double step = static_cast<double>(*args.in[slots + 3].template as<const std::int64_t>()) + 1;
  update_numbers<C> h;
  for (std::size_t i = slots + 4; i < args.in.size(); ++i)
    h.number[i - slots - 4] = static_cast<C>(*args.in[i].template as<const double>());
  if constexpr (std::is_same_v<Update, op::apply_adamw>) h.number[4] = static_cast<C>(1 - learning_rate * number(5));
  if constexpr (std::is_same_v<Update, op::apply_adam> || std::is_same_v<Update, op::apply_adamw>)
    learning_rate *= __builtin_sqrt(1 - __builtin_pow(number(3), step)) / (1 - __builtin_pow(number(2), step));
  h.rate = static_cast<C>(learning_rate);
  const T* g = args.in[1 + slots].template as<const T>();
  T* v = args.out.template as<T>();
  const std::int64_t n = args.out.elements();
  constexpr std::int64_t chunk = 65536;
  const auto some = [&](std::int64_t t) {
    const std::int64_t first = t * chunk, last = first + chunk < n ? first + chunk : n;
    dispatch<update_body<Update, T>>(v, static_cast<T* const*>(slot), g, static_cast<const update_numbers<C>*>(&h),
                                     first, last);
  };
  const std::int64_t tasks = (n + chunk - 1) / chunk;
  if (tasks == 1)
    some(0);
  else
    context.threads->parallel_for(tasks, some);
}

template <class T>
struct row_update_body {
  using C = compute_t<T>;
  TAGMA_INLINE static void run(T* v, const T* g, C rate, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) store(v + i, load<8>(v + i) - load<8>(g + i) * rate);
    for (; i < n; ++i) v[i] = T(static_cast<C>(v[i]) - static_cast<C>(g[i]) * rate);
  }
};

template <class T, class Index>
void apply_sgd_rows(const kernel_args& args, const run_context&) {
  const shape& dims = args.out.dims;
  const std::int64_t width = dims.sub(1, dims.rank).elements(), count = args.in[2].elements();
  const Index* index = args.in[2].as<const Index>();
  const auto rate = static_cast<compute_t<T>>(*args.in[3].as<const double>());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::int64_t>(index[i]);
    if (row < 0 || row >= dims[0]) fail(status_code::out_of_range, {"index ", row, " is not below ", dims[0]});
    dispatch<row_update_body<T>>(args.out.as<T>() + row * width, args.in[1].as<const T>() + i * width, rate, width);
  }
}

inline void scheduled_rate(const kernel_args& args, const run_context&) {
  *args.out.as<double>() = evaluate(*args.value, static_cast<double>(*args.in[0].as<const std::int64_t>()));
}

/// A kernel table entry of an update.
template <class Update>
struct update_kernel {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&apply_update<Update, stored<Out>>};
};

}  // namespace detail

template <>
struct kernel<ir::info<op::apply_sgd>> : detail::update_kernel<op::apply_sgd> {};
template <>
struct kernel<ir::info<op::apply_momentum>> : detail::update_kernel<op::apply_momentum> {};
template <>
struct kernel<ir::info<op::apply_adagrad>> : detail::update_kernel<op::apply_adagrad> {};
template <>
struct kernel<ir::info<op::apply_adadelta>> : detail::update_kernel<op::apply_adadelta> {};
template <>
struct kernel<ir::info<op::apply_rmsprop>> : detail::update_kernel<op::apply_rmsprop> {};
template <>
struct kernel<ir::info<op::apply_centered_rmsprop>> : detail::update_kernel<op::apply_centered_rmsprop> {};
template <>
struct kernel<ir::info<op::apply_adam>> : detail::update_kernel<op::apply_adam> {};
template <>
struct kernel<ir::info<op::apply_adamw>> : detail::update_kernel<op::apply_adamw> {};
template <>
struct kernel<ir::info<op::apply_ftrl>> : detail::update_kernel<op::apply_ftrl> {};
template <>
struct kernel<ir::info<op::apply_sgd_rows>> {
  template <dtype Out, dtype, dtype, dtype Index, dtype...>
  static constexpr kernel_entry entry{&detail::apply_sgd_rows<stored<Out>, stored<Index>>};
};
template <>
struct kernel<ir::info<op::scheduled_rate>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&detail::scheduled_rate};
};

}  // namespace tagma::device::cpu
