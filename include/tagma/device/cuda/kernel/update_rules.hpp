// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The rules of the optimizers for one element on the GPU, with the formulas of the CPU.

#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/nn/optimizers.hpp"

namespace tagma::device::cuda::detail {

/// Numbers of an update, in the type of the computation.
template <class C>
struct update_numbers {
  C rate{};
  C number[8]{};
};

/// The rule of an update: `v` is an element of the variable, `s` those of its slots, `g` the gradient.
template <class Update>
struct update_rule;

template <>
struct update_rule<op::apply_sgd> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C*, C g, const update_numbers<C>& h) {
    v = v - g * h.rate;
  }
};
template <>
struct update_rule<op::apply_momentum> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C* s, C g, const update_numbers<C>& h) {
    s[0] = s[0] * h.number[0] + g;
    v = h.number[1] != 0 ? v - (g + s[0] * h.number[0]) * h.rate : v - s[0] * h.rate;
  }
};
template <>
struct update_rule<op::apply_adagrad> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C* s, C g, const update_numbers<C>& h) {
    s[0] = s[0] + g * g;
    v = v - g * h.rate / square_root(s[0]);
  }
};
template <>
struct update_rule<op::apply_adadelta> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C* s, C g, const update_numbers<C>& h) {
    const C rho = h.number[0], rest = 1 - h.number[0], epsilon = h.number[1];
    s[0] = s[0] * rho + g * g * rest;
    const C step = square_root(s[1] + epsilon) / square_root(s[0] + epsilon) * g;
    v = v - step * h.rate;
    s[1] = s[1] * rho + step * step * rest;
  }
};
template <>
struct update_rule<op::apply_rmsprop> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C* s, C g, const update_numbers<C>& h) {
    s[0] = s[0] + (g * g - s[0]) * (1 - h.number[0]);
    s[1] = s[1] * h.number[1] + g * h.rate / square_root(s[0] + h.number[2]);
    v = v - s[1];
  }
};
template <>
struct update_rule<op::apply_centered_rmsprop> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C* s, C g, const update_numbers<C>& h) {
    s[0] = s[0] + (g * g - s[0]) * (1 - h.number[0]);
    s[2] = s[2] + (g - s[2]) * (1 - h.number[0]);
    s[1] = s[1] * h.number[1] + g * h.rate / square_root(s[0] - s[2] * s[2] + h.number[2]);
    v = v - s[1];
  }
};
/// `rate` is lr * sqrt(1 - beta2^t) / (1 - beta1^t).
template <>
struct update_rule<op::apply_adam> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C* s, C g, const update_numbers<C>& h) {
    s[0] = s[0] + (g - s[0]) * (1 - h.number[0]);
    s[1] = s[1] + (g * g - s[1]) * (1 - h.number[1]);
    v = v - s[0] * h.rate / (square_root(s[1]) + h.number[2]);
  }
};
/// `number[4]` is 1 - lr * weight_decay.
template <>
struct update_rule<op::apply_adamw> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C* s, C g, const update_numbers<C>& h) {
    v = v * h.number[4];
    update_rule<op::apply_adam>::apply(v, s, g, h);
  }
};
template <>
struct update_rule<op::apply_ftrl> {
  template <class C>
  TAGMA_DEVICE static void apply(C& v, C* s, C g, const update_numbers<C>& h) {
    const C l1 = h.number[2];
    const C shrunk = g + v * (2 * h.number[4]);
    const C next = s[0] + g * g;
    const C power = raise(next, -h.number[0]), before = raise(s[0], -h.number[0]);
    s[1] = s[1] + shrunk - (power - before) / h.rate * v;
    const C signed_l1 = s[1] > 0 ? l1 : s[1] < 0 ? -l1 : C(0);
    const C moved = (signed_l1 - s[1]) / (power / h.rate + 2 * h.number[3]);
    v = magnitude(s[1]) > l1 ? moved : C(0);
    s[0] = next;
  }
};

/// Where the numbers of an update are in memory of the device.
struct number_places {
  const double* rate = nullptr;
  const std::int64_t* step = nullptr;
  const double* number[8]{};
  std::int32_t count = 0;

  /// Of an update with `slots` slots; of its inputs, the first `end` count.
  number_places(const kernel_args& args, std::size_t slots, std::size_t end) {
    const std::size_t first = slots + 2;
    rate = args.in[first].as<const double>();
    step = args.in[first + 1].as<const std::int64_t>();
    for (std::size_t i = first + 2; i < end; ++i) number[count++] = args.in[i].as<const double>();
  }
};

/// The numbers as a rule uses them.
template <class Update, class C>
TAGMA_DEVICE update_numbers<C> read_numbers(const number_places& p) {
  double learning_rate = *p.rate;
  const double step = static_cast<double>(*p.step) + 1;
  update_numbers<C> h;
  for (int i = 0; i < p.count; ++i) h.number[i] = static_cast<C>(*p.number[i]);
  if constexpr (std::is_same_v<Update, op::apply_adamw>) h.number[4] = static_cast<C>(1 - learning_rate * *p.number[3]);
  if constexpr (std::is_same_v<Update, op::apply_adam> || std::is_same_v<Update, op::apply_adamw>)
    learning_rate *= square_root(1 - raise(*p.number[1], step)) / (1 - raise(*p.number[0], step));
  h.rate = static_cast<C>(learning_rate);
  return h;
}

/// Reads the numbers once for all threads of a block.
template <class Update, class C>
TAGMA_DEVICE update_numbers<C> share_numbers(const place& at, const number_places& p) {
  auto* shared = reinterpret_cast<update_numbers<C>*>(at.shared);
  if (at.thread == 0) *shared = read_numbers<Update, C>(p);
  at.wait();
  return *shared;
}

}  // namespace tagma::device::cuda::detail
