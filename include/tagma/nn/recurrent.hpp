// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Recurrent layers, unrolled over a static number of steps. The weights are one variable however many steps there are,
/// so their gradient is the sum over the steps.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/rules.hpp"
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

namespace op {

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

/// Columns `first` to `last` of a matrix.
constexpr ir::node_id columns(auto& e, ir::node_id x, extent first, extent last) {
  return e.emit_with(slice{}, ir::pack_attributes(0, to_end, first, last), x);
}
/// [x, h] * kernel + bias.
constexpr ir::node_id joined_product(auto& e, ir::node_id x, ir::node_id h, ir::node_id kernel, ir::node_id bias) {
  const ir::node_id joined = e.emit_with(concat{}, ir::pack_attributes(1), x, h);
  return e.emit(add{}, e.emit_with(matmul{}, ir::pack_attributes(false, false), joined, kernel), bias);
}

/// The steps of cells: state 0 is the output. Inputs 1 and so on are the parameters.
/// @{

/// tanh([x, h] * kernel + bias).
struct simple_cell {
  static constexpr const char* name = "rnn";
  static constexpr int states = 1, nodes = 8;
  static constexpr void next(auto& e, ir::node_id x, ir::node_id* state, extent) {
    state[0] = e.emit(tanh{}, joined_product(e, x, state[0], e.in(1), e.in(2)));
  }
};
/// Parameters: kernel and bias of the gates, kernel and bias of the candidate.
struct gru_cell {
  static constexpr const char* name = "gru";
  static constexpr int states = 1, nodes = 16;
  static constexpr void next(auto& e, ir::node_id x, ir::node_id* state, extent units) {
    const ir::node_id h = state[0];
    const ir::node_id gates = e.emit(sigmoid{}, joined_product(e, x, h, e.in(1), e.in(2)));
    const ir::node_id reset = columns(e, gates, 0, units);
    const ir::node_id update = columns(e, gates, units, 2 * units);
    const ir::node_id kept = e.emit(multiply{}, reset, h);
    const ir::node_id candidate = e.emit(tanh{}, joined_product(e, x, kept, e.in(3), e.in(4)));
    // update * h + (1 - update) * candidate
    const ir::node_id change = e.emit(multiply{}, update, e.emit(subtract{}, h, candidate));
    state[0] = e.emit(add{}, candidate, change);
  }
};
struct lstm_cell {
  static constexpr const char* name = "lstm";
  static constexpr int states = 2, nodes = 20;
  static constexpr void next(auto& e, ir::node_id x, ir::node_id* state, extent units) {
    const ir::node_id gates = joined_product(e, x, state[0], e.in(1), e.in(2));
    const ir::node_id input = e.emit(sigmoid{}, columns(e, gates, 0, units));
    const ir::node_id value = e.emit(tanh{}, columns(e, gates, units, 2 * units));
    const ir::node_id raised = columns(e, gates, 2 * units, 3 * units);
    const ir::node_id forget = e.emit(sigmoid{}, e.emit(add{}, raised, e.constant(1)));
    const ir::node_id output = e.emit(sigmoid{}, columns(e, gates, 3 * units, 4 * units));
    const ir::node_id kept = e.emit(multiply{}, forget, state[1]);
    const ir::node_id taken = e.emit(multiply{}, input, value);
    state[1] = e.emit(add{}, kept, taken);
    state[0] = e.emit(multiply{}, e.emit(tanh{}, state[1]), output);
  }
};
/// @}

/// A cell over the steps of a sequence, input 0, beginning with zeros. Attributes: units, time, whether all outputs are
/// wanted.
template <class Cell>
struct recurrent {
  static constexpr const char* name = Cell::name;
  static constexpr ir::op_kind kind = ir::op_kind::composition;
  static constexpr int weight(ir::attribute_list a) { return Cell::nodes * static_cast<int>(a[1]); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {a.in[0].dims[0]}};
    if (a.attributes[2] != 0) a.out.dims.push_back(a.attributes[1]);
    a.out.dims.push_back(a.attributes[0]);
    return nullptr;
  }
  /// The shape of a tile of which no element is read, so that it is never computed.
  static constexpr ir::node_id zero_state(auto& e, ir::node_id x) {
    const ir::node_id zero = e.constant(0);
    const ir::node_id wide = e.emit_with(tile{}, ir::pack_attributes(1, e.attr(0)), columns(e, x, 0, 1));
    return e.emit(broadcast_like{}, zero, wide);
  }
  static constexpr void expand(auto& e) {
    constexpr extent chunk = 64;  // one node joins at most 64 operands
    ir::node_id state[Cell::states]{}, outputs[chunk]{}, chunks[chunk]{};
    extent count = 0, joined = 0;
    for (extent t = 0; t < e.attr(1); ++t) {
      const ir::node_id some = e.emit_with(slice{}, ir::pack_attributes(0, to_end, t, t + 1, 0, to_end), e.in(0));
      const ir::node_id now = e.emit_with(squeeze{}, ir::pack_attributes(2), some);
      if (t == 0)
        for (ir::node_id& s : state) s = zero_state(e, now);
      Cell::next(e, now, state, e.attr(0));
      if (e.attr(2) == 0) continue;
      outputs[count++] = e.emit_with(expand_dims{}, ir::pack_attributes(2), state[0]);
      if (count < chunk && t + 1 < e.attr(1)) continue;
      chunks[joined++] = e.emit_over(concat{}, {outputs, count}, ir::pack_attributes(1));
      count = 0;
    }
    e.result = e.attr(2) == 0 ? state[0] : chunks[0];
    if (joined > 1) e.result = e.emit_over(concat{}, {chunks, joined}, ir::pack_attributes(1));
  }
};

}  // namespace op

namespace detail {

template <class Cell, extent Units, bool AllSteps, class Place, class X, class... Parameter>
[[nodiscard]] constexpr auto make_recurrent(const X& x, const Parameter&... parameter) {
  return make_node<op::recurrent<Cell>, ir::pack_attributes(Units, X::spec.dims[1], AllSteps), Place>(x, parameter...);
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
  TAGMA_NEEDS_NAME("rnn", Name);
  TAGMA_NEEDS_SEQUENCE(typename E::spec_type);
  if constexpr (diagnose::is_sequence<typename E::spec_type> && diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    const auto kernel = variable<Name / "kernel", T, E::spec.dims[2] + Units, Units>(initial);
    const auto bias = variable<Name / "bias", T, Units>(zeros);
    return detail::make_recurrent<op::simple_cell, Units, AllSteps, Place>(x, kernel, bias);
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
  TAGMA_NEEDS_NAME("gru", Name);
  TAGMA_NEEDS_SEQUENCE(typename E::spec_type);
  if constexpr (diagnose::is_sequence<typename E::spec_type> && diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    constexpr extent rows = E::spec.dims[2] + Units;
    const auto gate_kernel = variable<Name / "gates" / "kernel", T, rows, 2 * Units>(initial);
    const auto gate_bias = variable<Name / "gates" / "bias", T, 2 * Units>(ones);
    const auto kernel = variable<Name / "candidate" / "kernel", T, rows, Units>(initial);
    const auto bias = variable<Name / "candidate" / "bias", T, Units>(zeros);
    return detail::make_recurrent<op::gru_cell, Units, AllSteps, Place>(x, gate_kernel, gate_bias, kernel, bias);
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
  TAGMA_NEEDS_NAME("lstm", Name);
  TAGMA_NEEDS_SEQUENCE(typename E::spec_type);
  if constexpr (diagnose::is_sequence<typename E::spec_type> && diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    const auto kernel = variable<Name / "kernel", T, E::spec.dims[2] + Units, 4 * Units>(initial);
    const auto bias = variable<Name / "bias", T, 4 * Units>(zeros);
    return detail::make_recurrent<op::lstm_cell, Units, AllSteps, Place>(x, kernel, bias);
  }
}
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_SEQUENCE
