// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Recurrent layers, unrolled over a static number of steps. The weights are one variable however many steps there are,
/// so their gradient is the sum over the steps.

#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/nn/initializers.hpp"

namespace tagma {

/// An input over which a recurrent layer steps.
#define TAGMA_NEEDS_SEQUENCE(...)                                                                             \
  static_assert(                                                                                              \
      ::tagma::diagnose::is_sequence<__VA_ARGS__>,                                                            \
      "TAGMA-E145 recurrent layer: needs an input of shape [batch, time, features], where time and features " \
      "are static");                                                                                          \
  TAGMA_NEEDS_FLOATS(__VA_ARGS__)

/// What a recurrent layer returns: the output of its last step, [batch, units], or those of all steps,
/// [batch, time, units].
template <bool AllSteps>
struct recurrent_output {};
inline constexpr recurrent_output<false> last_output{};
inline constexpr recurrent_output<true> return_sequences{};

namespace diagnose {
/// The input of a recurrent layer has a batch axis, a time axis and a feature axis; the last two are static.
template <class X>
inline constexpr bool is_sequence = X::value.dims.rank == 3 && X::value.dims[1] >= 1 && X::value.dims[2] >= 1;
}  // namespace diagnose

namespace detail {

/// Columns `First` to `First + Count` of a matrix.
template <extent First, extent Count, class Place, class E>
[[nodiscard]] constexpr auto columns(const E& e) {
  return make_node<op::slice, part_attributes<2, 1, First, First + Count>, Place>(e);
}

/// [x, h] * kernel + bias; takes the parts 0 to 2 of `Place`.
template <class Place, class X, class H, class K, class B>
[[nodiscard]] constexpr auto joined_product(const X& x, const H& h, const K& kernel, const B& bias) {
  const auto joined = make_node<op::concat, ir::pack_attributes(1), part<Place, 0>>(x, h);
  return step<op::add, Place, 2>(
      make_node<op::matmul, ir::pack_attributes(false, false), part<Place, 1>>(joined, kernel), bias);
}

/// A state of zeros, [batch, Units]: the shape of a tile of which no element is read, so that it is never computed.
template <extent Units, class Place, class X>
[[nodiscard]] constexpr auto zero_state(const X& x) {
  using T = typename X::element_type;
  const auto zero = make_constant<T, bits_of(0)>();
  const auto one_column = columns<0, 1, part<Place, 0>>(x);
  const auto shape_of_state = make_node<op::tile, ir::pack_attributes(1, Units), part<Place, 1>>(one_column);
  return step<op::broadcast_like, Place, 2>(zero, shape_of_state);
}

/// tanh([x, h] * kernel + bias).
template <extent Units, class K, class B>
struct simple_cell {
  K kernel;
  B bias;

  template <class Place, class X, class H>
  [[nodiscard]] constexpr auto next(const X& x, const std::tuple<H>& state) const {
    return std::make_tuple(step<op::tanh, Place, 3>(joined_product<Place>(x, std::get<0>(state), kernel, bias)));
  }
  template <class Place, class X>
  [[nodiscard]] constexpr auto first_state(const X& x) const {
    return std::make_tuple(zero_state<Units, Place>(x));
  }
};

template <extent Units, class GK, class GB, class CK, class CB>
struct gru_cell {
  GK gate_kernel;
  GB gate_bias;
  CK kernel;
  CB bias;

  template <class Place, class X, class H>
  [[nodiscard]] constexpr auto next(const X& x, const std::tuple<H>& state) const {
    const auto& h = std::get<0>(state);
    const auto gates = step<op::sigmoid, Place, 3>(joined_product<Place>(x, h, gate_kernel, gate_bias));
    const auto reset = columns<0, Units, part<Place, 4>>(gates);
    const auto update = columns<Units, Units, part<Place, 5>>(gates);
    const auto kept = step<op::multiply, Place, 6>(reset, h);
    const auto candidate = step<op::tanh, Place, 8>(joined_product<part<Place, 7>>(x, kept, kernel, bias));
    // update * h + (1 - update) * candidate
    const auto change = step<op::multiply, Place, 10>(update, step<op::subtract, Place, 9>(h, candidate));
    return std::make_tuple(step<op::add, Place, 11>(candidate, change));
  }
  template <class Place, class X>
  [[nodiscard]] constexpr auto first_state(const X& x) const {
    return std::make_tuple(zero_state<Units, Place>(x));
  }
};

template <extent Units, class K, class B>
struct lstm_cell {
  K kernel;
  B bias;

  template <class Place, class X, class H, class C>
  [[nodiscard]] constexpr auto next(const X& x, const std::tuple<H, C>& state) const {
    using T = typename X::element_type;
    const auto& [h, c] = state;
    const auto gates = joined_product<Place>(x, h, kernel, bias);
    const auto input = step<op::sigmoid, Place, 4>(columns<0, Units, part<Place, 3>>(gates));
    const auto value = step<op::tanh, Place, 6>(columns<Units, Units, part<Place, 5>>(gates));
    const auto raised =
        step<op::add, Place, 8>(columns<2 * Units, Units, part<Place, 7>>(gates), make_constant<T, bits_of(1)>());
    const auto forget = step<op::sigmoid, Place, 9>(raised);
    const auto output = step<op::sigmoid, Place, 11>(columns<3 * Units, Units, part<Place, 10>>(gates));
    const auto cell =
        step<op::add, Place, 14>(step<op::multiply, Place, 12>(forget, c), step<op::multiply, Place, 13>(input, value));
    return std::make_tuple(step<op::multiply, Place, 16>(step<op::tanh, Place, 15>(cell), output), cell);
  }
  template <class Place, class X>
  [[nodiscard]] constexpr auto first_state(const X& x) const {
    const auto zeros_of_state = zero_state<Units, Place>(x);
    return std::make_tuple(zeros_of_state, zeros_of_state);
  }
};

/// The state behind step `Time`. Each step is one instantiation, however often it is asked for.
template <class Place, extent Time, class X, class Cell>
[[nodiscard]] constexpr auto state_after(const X& x, const Cell& cell) {
  using here = part<Place, static_cast<int>(Time)>;
  const auto some = make_node<op::slice, part_attributes<3, 1, Time, Time + 1>, part<here, 100>>(x);
  const auto now = make_node<op::squeeze, ir::pack_attributes(2), part<here, 101>>(some);
  if constexpr (Time == 0)
    return cell.template next<part<here, 102>>(now, cell.template first_state<part<here, 103>>(now));
  else
    return cell.template next<part<here, 102>>(now, state_after<Place, Time - 1>(x, cell));
}

/// Outputs of consecutive steps side by side along a new axis 1.
template <class Place, class StackPlace, extent First, class X, class Cell, int... I>
[[nodiscard]] constexpr auto stack_steps(const X& x, const Cell& cell, std::integer_sequence<int, I...> steps) {
  return stack_operands<1, StackPlace>(steps, std::get<0>(state_after<Place, First + I>(x, cell))...);
}
template <class Place, class StackPlace, extent Time, class X, class Cell, int... Chunk>
[[nodiscard]] constexpr auto stack_chunks(const X& x, const Cell& cell, std::integer_sequence<int, Chunk...>) {
  constexpr int time = static_cast<int>(Time);
  return make_concat<1, StackPlace>(stack_steps<Place, part<StackPlace, Chunk>, 64 * Chunk>(
      x, cell, std::make_integer_sequence<int, (64 * Chunk + 64 < time ? 64 : time - 64 * Chunk)>{})...);
}

template <class Place, bool AllSteps, class X, class Cell>
[[nodiscard]] constexpr auto unroll(const X& x, const Cell& cell) {
  constexpr extent time = X::spec.dims[1];
  if constexpr (!AllSteps)
    return std::get<0>(state_after<Place, time - 1>(x, cell));
  else  // one node joins at most 64 operands
    return stack_chunks<Place, part<Place, static_cast<int>(time)>, time>(
        x, cell, std::make_integer_sequence<int, static_cast<int>((time + 63) / 64)>{});
}

}  // namespace detail

/// Recurrent layers. Their state begins with zeros.
/// @tparam Name begins the names of the variables
/// @tparam Units outputs of each step
/// @param x [batch, time, features], floating; time and features static
/// @param output `last_output` gives [batch, units], `return_sequences` [batch, time, units]
/// @param initial initializer of the kernels
/// Raise TAGMA-E145 if x is no such sequence, TAGMA-E014 if it is not floating.
/// @{

/// h = tanh([x, h] * kernel + bias), with variables "<Name>/kernel" and "<Name>/bias". TensorFlow's BasicRNNCell.
template <fixed_string Name, extent Units, expression E, bool AllSteps = false,
          class Initial = decltype(glorot_uniform), class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto rnn(const E& x, recurrent_output<AllSteps> = {}, const Initial& initial = glorot_uniform) {
  TAGMA_NEEDS_SEQUENCE(typename E::spec_type);
  if constexpr (diagnose::is_sequence<typename E::spec_type> && diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    const auto kernel = variable<Name / "kernel", T, E::spec.dims[2] + Units, Units>(initial);
    const auto bias = variable<Name / "bias", T, Units>(zeros);
    const detail::simple_cell<Units, decltype(kernel), decltype(bias)> cell{kernel, bias};
    return detail::unroll<Place, AllSteps>(x, cell);
  }
}

/// The gated recurrent unit of Cho et al. 2014, as TensorFlow's GRUCell has it: the reset gate acts before the product.
///
///     [r, u] = sigmoid([x, h] * gates + gates_bias)        gates_bias begins with 1
///     c = tanh([x, r * h] * candidate + candidate_bias)
///     h = u * h + (1 - u) * c
///
/// with variables "<Name>/gates/kernel", "<Name>/gates/bias", "<Name>/candidate/kernel", "<Name>/candidate/bias".
template <fixed_string Name, extent Units, expression E, bool AllSteps = false,
          class Initial = decltype(glorot_uniform), class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto gru(const E& x, recurrent_output<AllSteps> = {}, const Initial& initial = glorot_uniform) {
  TAGMA_NEEDS_SEQUENCE(typename E::spec_type);
  if constexpr (diagnose::is_sequence<typename E::spec_type> && diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    constexpr extent rows = E::spec.dims[2] + Units;
    const auto gate_kernel = variable<Name / "gates" / "kernel", T, rows, 2 * Units>(initial);
    const auto gate_bias = variable<Name / "gates" / "bias", T, 2 * Units>(ones);
    const auto kernel = variable<Name / "candidate" / "kernel", T, rows, Units>(initial);
    const auto bias = variable<Name / "candidate" / "bias", T, Units>(zeros);
    const detail::gru_cell<Units, decltype(gate_kernel), decltype(gate_bias), decltype(kernel), decltype(bias)> cell{
        gate_kernel, gate_bias, kernel, bias};
    return detail::unroll<Place, AllSteps>(x, cell);
  }
}

/// Long short-term memory, Hochreiter and Schmidhuber 1997, as TensorFlow's LSTMCell has it, without peepholes:
///
///     [i, j, f, o] = [x, h] * kernel + bias
///     c = sigmoid(f + 1) * c + sigmoid(i) * tanh(j)
///     h = tanh(c) * sigmoid(o)
///
/// with variables "<Name>/kernel" and "<Name>/bias". The 1 lets memories last before training says otherwise
/// (Jozefowicz, Zaremba, Sutskever 2015).
template <fixed_string Name, extent Units, expression E, bool AllSteps = false,
          class Initial = decltype(glorot_uniform), class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto lstm(const E& x, recurrent_output<AllSteps> = {},
                                  const Initial& initial = glorot_uniform) {
  TAGMA_NEEDS_SEQUENCE(typename E::spec_type);
  if constexpr (diagnose::is_sequence<typename E::spec_type> && diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    const auto kernel = variable<Name / "kernel", T, E::spec.dims[2] + Units, 4 * Units>(initial);
    const auto bias = variable<Name / "bias", T, 4 * Units>(zeros);
    const detail::lstm_cell<Units, decltype(kernel), decltype(bias)> cell{kernel, bias};
    return detail::unroll<Place, AllSteps>(x, cell);
  }
}
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_SEQUENCE
