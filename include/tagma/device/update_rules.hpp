// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The rules of the optimizers, for kernels of all devices. A rule is written over values of type P: packs of elements
/// on the CPU, single elements on a GPU.

#include "tagma/base/config.hpp"
#include "tagma/device/functions.hpp"
#include "tagma/nn/optimizers.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma::device {

/// Numbers of an update, in the type of the computation.
template <class C>
struct update_numbers {
  C rate{};
  C number[8]{};
};

TAGMA_FORMULAS_BEGIN

/// The rule of an update: `v` is the variable, `s` its slots, `g` the gradient, and `h` the numbers. What is in between
/// is an argument of a function, never a variable: nvcc takes no variable with a vector in a function that is also one
/// of the GPU.
template <class Update>
struct update_rule;

template <>
struct update_rule<op::apply_sgd> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P*, const P& g, const update_numbers<C>& h) {
    v = v - g * h.rate;
  }
};
template <>
struct update_rule<op::apply_momentum> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P* s, const P& g, const update_numbers<C>& h) {
    s[0] = s[0] * h.number[0] + g;
    v = h.number[1] != 0 ? v - (g + s[0] * h.number[0]) * h.rate : v - s[0] * h.rate;
  }
};
template <>
struct update_rule<op::apply_adagrad> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P* s, const P& g, const update_numbers<C>& h) {
    s[0] = s[0] + g * g;
    v = v - g * h.rate / sqrt(s[0]);
  }
};
template <>
struct update_rule<op::apply_adadelta> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P* s, const P& g, const update_numbers<C>& h) {
    s[0] = s[0] * h.number[0] + g * g * (1 - h.number[0]);
    move(v, s, sqrt(s[1] + h.number[1]) / sqrt(s[0] + h.number[1]) * g, h);
  }
  template <class P, class C>
  TAGMA_DEVICE static void move(P& v, P* s, const P& step, const update_numbers<C>& h) {
    v = v - step * h.rate;
    s[1] = s[1] * h.number[0] + step * step * (1 - h.number[0]);
  }
};
template <>
struct update_rule<op::apply_rmsprop> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P* s, const P& g, const update_numbers<C>& h) {
    s[0] = s[0] + (g * g - s[0]) * (1 - h.number[0]);
    s[1] = s[1] * h.number[1] + g * h.rate / sqrt(s[0] + h.number[2]);
    v = v - s[1];
  }
};
template <>
struct update_rule<op::apply_centered_rmsprop> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P* s, const P& g, const update_numbers<C>& h) {
    s[0] = s[0] + (g * g - s[0]) * (1 - h.number[0]);
    s[2] = s[2] + (g - s[2]) * (1 - h.number[0]);
    s[1] = s[1] * h.number[1] + g * h.rate / sqrt(s[0] - s[2] * s[2] + h.number[2]);
    v = v - s[1];
  }
};
/// `rate` is lr * sqrt(1 - beta2^t) / (1 - beta1^t), `number[0]` and `number[1]` are 1 - beta1 and 1 - beta2: of
/// floats, that difference would lose digits.
template <>
struct update_rule<op::apply_adam> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P* s, const P& g, const update_numbers<C>& h) {
    s[0] = s[0] + (g - s[0]) * h.number[0];
    s[1] = s[1] + (g * g - s[1]) * h.number[1];
    v = v - s[0] * h.rate / (sqrt(s[1]) + h.number[2]);
  }
};
/// `number[4]` is 1 - lr * weight_decay.
template <>
struct update_rule<op::apply_adamw> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P* s, const P& g, const update_numbers<C>& h) {
    v = v * h.number[4];
    update_rule<op::apply_adam>::apply(v, s, g, h);
  }
};
template <>
struct update_rule<op::apply_ftrl> {
  template <class P, class C>
  TAGMA_DEVICE static void apply(P& v, P* s, const P& g, const update_numbers<C>& h) {
    move(v, s, g + v * (2 * h.number[4]), s[0] + g * g, pow(s[0] + g * g, -h.number[0]), h);
  }
  template <class P, class C>
  TAGMA_DEVICE static void move(P& v, P* s, const P& shrunk, const P& next, const P& power,
                                const update_numbers<C>& h) {
    s[1] = s[1] + shrunk - (power - pow(s[0], -h.number[0])) / h.rate * v;
    v = select(abs(s[1]) > h.number[2],
               select(s[1] > C(0), h.number[2] - s[1], -h.number[2] - s[1]) / (power / h.rate + 2 * h.number[3]), P{});
    s[0] = next;
  }
};

TAGMA_FORMULAS_END

/// Where the numbers of an update are in memory of the device.
struct number_places {
  const double* rate = nullptr;
  const std::int64_t* step = nullptr;
  const double* number[8]{};
  std::int32_t count = 0;

  /// Of an update with `slots` slots; of its inputs, the first `end` count.
  TAGMA_COLD number_places(const runtime::kernel_args& args, std::size_t slots, std::size_t end) {
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
  if constexpr (std::is_same_v<Update, op::apply_adam> || std::is_same_v<Update, op::apply_adamw>) {
    for (int i = 0; i < 2; ++i) h.number[i] = static_cast<C>(1 - *p.number[i]);
    learning_rate *= sqrt(1 - pow(*p.number[1], step)) / (1 - pow(*p.number[0], step));
  }
  h.rate = static_cast<C>(learning_rate);
  return h;
}

/// The operands of an update by a sparse gradient.
template <class Update>
struct row_update_operands {
  using rows_type = op::apply_rows<Update>;
  const runtime::kernel_args& args;

  [[nodiscard]] std::size_t parts() const { return static_cast<std::size_t>(args.attributes[0]); }
  [[nodiscard]] const runtime::operand& rows(std::size_t part) const {
    return args.in[rows_type::rows_input(args.in.size(), parts(), part)];
  }
  [[nodiscard]] const runtime::operand& indices(std::size_t part) const {
    return args.in[rows_type::index_input(args.in.size(), parts(), part)];
  }
  [[nodiscard]] number_places numbers() const {
    return {args, rows_type::slots, rows_type::index_input(args.in.size(), parts(), 0)};
  }
  /// Elements of a row of the variable.
  [[nodiscard]] std::int64_t width() const { return args.out.dims.elements(1, args.out.dims.rank); }
};

}  // namespace tagma::device
