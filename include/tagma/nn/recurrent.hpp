// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Recurrent layers: loops over the steps of a sequence, or unrolled over a static number of them. The weights are one
/// variable however many steps there are, so their gradient is the sum over the steps.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/cell.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/loop.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/layers.hpp"

namespace tagma {

/// An input over which a recurrent layer steps.
#define TAGMA_NEEDS_SEQUENCE(Unrolled, ...)                                                                \
  static_assert(::tagma::diagnose::is_sequence<Unrolled, __VA_ARGS__>,                                     \
                "TAGMA-E145 recurrent layer: needs an input of shape [batch, time, features] with static " \
                "features, and with static time if it is unrolled");                                       \
  TAGMA_NEEDS_FLOATS(__VA_ARGS__)

/// What a recurrent layer returns: the output of its last step, [batch, units], or those of all steps,
/// [batch, time, units].
template <bool AllSteps, bool Unrolled = false>
struct recurrent_output {};
/// The output of the last step, [batch, units]: the default of recurrent layers.
inline constexpr recurrent_output<false> last_output{};
/// The outputs of all steps, [batch, time, units].
inline constexpr recurrent_output<true> return_sequences{};

/// Steps that are nodes of their own: `return_sequences | unrolled`.
template <bool AllSteps>
[[nodiscard]] constexpr recurrent_output<AllSteps, true> operator|(recurrent_output<AllSteps>, unrolled_steps) {
  return {};
}

namespace diagnose {
/// Nothing stands beside the sequence of a recurrent layer.
template <class Second>
inline constexpr bool belongs_to_sequence = false;
/// The input of a recurrent layer has a batch axis, a time axis and a feature axis.
template <bool Unrolled, class X>
inline constexpr bool is_sequence = X::value.dims.rank == 3 &&
                                    X::value.dims[1] >= (Unrolled ? 1 : dyn) && X::value.dims[2] >= 1;
}  // namespace diagnose

namespace op {

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

/// [x, h] * kernel.
constexpr ir::node_id joined_product(auto& e, ir::node_id x, ir::node_id h, ir::node_id kernel) {
  const ir::node_id joined = e.emit_with(concat{}, ir::pack_attributes(1), x, h);
  return e.emit_with(matmul{}, ir::pack_attributes(false, false), joined, kernel);
}

/// The steps of cells: state 0 is the output. Inputs 1 and so on are the parameters.
/// @{

/// tanh([x, h] * kernel + bias).
struct simple_cell {
  static constexpr const char* name = "rnn";
  static constexpr int states = 1, nodes = 8;
  static constexpr void next(auto& e, ir::node_id x, ir::node_id* state, extent) {
    state[0] = e.emit(tanh{}, e.emit(add{}, joined_product(e, x, state[0], e.in(1)), e.in(2)));
  }
};
/// Parameters: kernel and bias of the gates, kernel and bias of the candidate.
struct gru_cell {
  static constexpr const char* name = "gru";
  static constexpr int states = 1, nodes = 11;
  static constexpr void next(auto& e, ir::node_id x, ir::node_id* state, extent) {
    const ir::node_id h = state[0];
    const ir::node_id gates = e.emit(gru_gates{}, joined_product(e, x, h, e.in(1)), h, e.in(2));
    const ir::node_id kept = e.g.emit_output(gates, 0), update = e.g.emit_output(gates, 1);
    state[0] = e.g.emit_output(e.emit(gru_output{}, update, h, joined_product(e, x, kept, e.in(3)), e.in(4)), 0);
  }
};
struct lstm_cell {
  static constexpr const char* name = "lstm";
  static constexpr int states = 2, nodes = 8;
  static constexpr void next(auto& e, ir::node_id x, ir::node_id* state, extent) {
    const ir::node_id gates = e.emit(lstm_gates{}, joined_product(e, x, state[0], e.in(1)), state[1], e.in(2));
    state[0] = e.g.emit_output(gates, 0);
    state[1] = e.g.emit_output(gates, 1);
  }
};
/// @}

/// Zeros [batch, units], where input 0 is [batch, time, features]. The shape of a tile of which no element is read, so
/// that it is never computed.
struct zero_state {
  static constexpr const char* name = "zero_state";
  static constexpr ir::op_kind kind = ir::op_kind::composition;
  static constexpr int weight(ir::attribute_list) { return 5; }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {a.in[0].dims[0], a.attributes[0]}};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const ir::node_id row = e.emit_with(sum{}, ir::pack_attributes(ir::attribute{0b10}, ir::attribute{0}), e.in(0));
    e.result = like(e, row, e.attr(0));
  }
  /// Zeros with the rows of a matrix and other columns.
  static constexpr ir::node_id like(auto& e, ir::node_id matrix, extent units) {
    const ir::node_id zero = e.constant(0);
    const ir::node_id wide = e.emit_with(tile{}, ir::pack_attributes(1, units), columns(e, matrix, 0, 1));
    return e.emit(broadcast_like{}, zero, wide);
  }
};

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
  static constexpr void expand(auto& e) {
    constexpr extent chunk = 64;  // one node joins at most 64 operands
    ir::node_id state[Cell::states]{}, outputs[chunk]{}, chunks[chunk]{};
    extent count = 0, joined = 0;
    for (extent t = 0; t < e.attr(1); ++t) {
      const ir::node_id some = e.emit_with(slice{}, ir::pack_attributes(0, to_end, t, t + 1, 0, to_end), e.in(0));
      const ir::node_id now = e.emit_with(squeeze{}, ir::pack_attributes(2), some);
      if (t == 0)
        for (ir::node_id& s : state) s = zero_state::like(e, now, e.attr(0));
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

template <class Cell>
inline constexpr bool ir::is_in_registry<op::recurrent<Cell>> = ir::is_in_registry<Cell>;

namespace detail {

/// The rows of a kernel that the input is multiplied with, and those for the state.
template <class Place, class X, class Kernel>
[[nodiscard]] constexpr auto kernel_rows(const X&, const Kernel& kernel) {
  constexpr extent features = X::spec.dims[2];
  return make_parts<0, Place, features, Kernel::spec.dims[0] - features>(kernel);
}
/// What a step adds to its product with the state: all inputs times their rows of the kernel, plus the bias, in one
/// product for all steps. [time, batch, gates]
template <class Place, class X, class Rows, class Bias>
[[nodiscard]] constexpr auto input_product(const X& x, const Rows& rows, const Bias& bias) {
  const auto product = make_node<op::matmul, ir::pack_attributes(false, false), part<Place, 0>>(x, std::get<0>(rows));
  return make_node<op::add, ir::attributes<0>{}, part<Place, 1>>(product, bias);
}
template <class Place, class H, class Rows>
[[nodiscard]] constexpr auto state_product(const H& h, const Rows& rows) {
  return make_node<op::matmul, ir::pack_attributes(false, false), Place>(h, std::get<1>(rows));
}

/// The steps of cells as loops over inputs with the time first.
template <class Cell>
struct looped_cell;
template <>
struct looped_cell<op::simple_cell> {
  template <class Place, extent Units, class X, class Kernel, class Bias, class Zero>
  static constexpr auto steps(const X& x, const Zero& zero, const Kernel& kernel, const Bias& bias) {
    const auto rows = kernel_rows<part<Place, 0>>(x, kernel);
    return scan(carry(zero), over(input_product<part<Place, 1>>(x, rows, bias)), [&](const auto& h, const auto& in) {
      const auto sum =
          make_node<op::add, ir::attributes<0>{}, part<Place, 3>>(state_product<part<Place, 2>>(h, rows), in);
      const auto made = make_node<op::tanh, ir::attributes<0>{}, part<Place, 4>>(sum);
      return next(made).emit(made);
    });
  }
};
template <>
struct looped_cell<op::gru_cell> {
  template <class Place, extent Units, class X, class Gates, class GatesBias, class Kernel, class Bias, class Zero>
  static constexpr auto steps(const X& x, const Zero& zero, const Gates& gates, const GatesBias& gates_bias,
                              const Kernel& kernel, const Bias& bias) {
    const auto gate_rows = kernel_rows<part<Place, 0>>(x, gates);
    const auto rows = kernel_rows<part<Place, 1>>(x, kernel);
    return scan(
        carry(zero),
        over(input_product<part<Place, 2>>(x, gate_rows, gates_bias), input_product<part<Place, 3>>(x, rows, bias)),
        [&](const auto& h, const auto& gates_in, const auto& in) {
          const auto reset = make_nodes<op::gru_gates, ir::attributes<0>{}, part<Place, 5>>(
              state_product<part<Place, 4>>(h, gate_rows), h, gates_in);
          const auto made = make_nodes<op::gru_output, ir::attributes<0>{}, part<Place, 7>>(
              std::get<1>(reset), h, state_product<part<Place, 6>>(std::get<0>(reset), rows), in);
          return next(std::get<0>(made)).emit(std::get<0>(made));
        });
  }
};
template <>
struct looped_cell<op::lstm_cell> {
  template <class Place, extent Units, class X, class Kernel, class Bias, class Zero>
  static constexpr auto steps(const X& x, const Zero& zero, const Kernel& kernel, const Bias& bias) {
    const auto rows = kernel_rows<part<Place, 0>>(x, kernel);
    return scan(carry(zero, zero), over(input_product<part<Place, 1>>(x, rows, bias)),
                [&](const auto& h, const auto& c, const auto& in) {
                  const auto made = make_nodes<op::lstm_gates, ir::attributes<0>{}, part<Place, 3>>(
                      state_product<part<Place, 2>>(h, rows), c, in);
                  return next(std::get<0>(made), std::get<1>(made)).emit(std::get<0>(made));
                });
  }
};

template <class Cell, extent Units, bool AllSteps, bool Unrolled, class Place, class X, class... Parameter>
[[nodiscard]] constexpr auto make_recurrent(const X& x, const Parameter&... parameter) {
  if constexpr (Unrolled) {
    return make_node<op::recurrent<Cell>, ir::pack_attributes(Units, X::spec.dims[1], AllSteps), Place>(x,
                                                                                                        parameter...);
  } else {
    const auto zero = make_node<op::zero_state, ir::pack_attributes(Units), part<Place, 0>>(x);
    const auto made =
        looped_cell<Cell>::template steps<part<Place, 2>, Units>(time_first<1, part<Place, 1>>(x), zero, parameter...);
    constexpr std::size_t all = std::tuple_size_v<std::remove_cvref_t<decltype(made)>> - 1;
    if constexpr (AllSteps)
      return time_back<1, part<Place, 3>>(std::get<all>(made));
    else
      return std::get<0>(made);
  }
}

}  // namespace detail

#define TAGMA_TAKES_ONE_SEQUENCE(Who, Second)          \
  static_assert(diagnose::belongs_to_sequence<Second>, \
                "TAGMA-E318 " Who                      \
                ": takes one sequence, and begins with zeros; with a state or a mask of your own it is tagma::scan")

/// Recurrent layers. Their state begins with zeros.
/// @tparam Name begins the names of the variables
/// @tparam Units outputs of each step
/// @param x [batch, time, features], floating; features static, and time too if the layer is unrolled
/// @param output `last_output` gives [batch, units], `return_sequences` [batch, time, units]; either `| unrolled`
/// @param initial initializer of the kernels
/// Raise TAGMA-E145 if x is no such sequence, TAGMA-E014 if it is not floating, TAGMA-E318 with a second tensor.
/// @{

/// h = tanh([x, h] * kernel + bias), with variables "<Name>/kernel" and "<Name>/bias". TensorFlow's BasicRNNCell.
template <fixed_string Name, extent Units, expression E, bool AllSteps = false, bool Unrolled = false,
          class Initial = decltype(glorot_uniform), class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto rnn(const E& x, recurrent_output<AllSteps, Unrolled> = {},
                                 const Initial& initial = glorot_uniform) {
  TAGMA_NEEDS_NAME("rnn", Name);
  TAGMA_NEEDS_SEQUENCE(Unrolled, typename E::spec_type);
  if constexpr (diagnose::is_sequence<Unrolled, typename E::spec_type> &&
                diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    const auto kernel = variable<Name / "kernel", T, E::spec.dims[2] + Units, Units>(initial);
    const auto bias = variable<Name / "bias", T, Units>(zeros);
    return detail::make_recurrent<op::simple_cell, Units, AllSteps, Unrolled, Place>(x, kernel, bias);
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto rnn(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("rnn", "<\"name\", 32>(x)", Rest...);
}
/// With a second tensor: TAGMA-E318.
template <fixed_string Name, extent Units, expression E, expression Second, class... Rest>
auto rnn(const E&, const Second&, const Rest&...) {
  TAGMA_TAKES_ONE_SEQUENCE("rnn", Second);
}

/// The gated recurrent unit of Cho et al. 2014, as TensorFlow's GRUCell has it: the reset gate acts before the product.
///
///     [r, u] = sigmoid([x, h] * gates + gates_bias)        gates_bias begins with 1
///     c = tanh([x, r * h] * candidate + candidate_bias)
///     h = u * h + (1 - u) * c
///
/// with variables "<Name>/gates/kernel", "<Name>/gates/bias", "<Name>/candidate/kernel", "<Name>/candidate/bias".
template <fixed_string Name, extent Units, expression E, bool AllSteps = false, bool Unrolled = false,
          class Initial = decltype(glorot_uniform), class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto gru(const E& x, recurrent_output<AllSteps, Unrolled> = {},
                                 const Initial& initial = glorot_uniform) {
  TAGMA_NEEDS_NAME("gru", Name);
  TAGMA_NEEDS_SEQUENCE(Unrolled, typename E::spec_type);
  if constexpr (diagnose::is_sequence<Unrolled, typename E::spec_type> &&
                diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    constexpr extent rows = E::spec.dims[2] + Units;
    const auto gate_kernel = variable<Name / "gates" / "kernel", T, rows, 2 * Units>(initial);
    const auto gate_bias = variable<Name / "gates" / "bias", T, 2 * Units>(ones);
    const auto kernel = variable<Name / "candidate" / "kernel", T, rows, Units>(initial);
    const auto bias = variable<Name / "candidate" / "bias", T, Units>(zeros);
    return detail::make_recurrent<op::gru_cell, Units, AllSteps, Unrolled, Place>(x, gate_kernel, gate_bias, kernel,
                                                                                  bias);
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto gru(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("gru", "<\"name\", 32>(x)", Rest...);
}
/// With a second tensor: TAGMA-E318.
template <fixed_string Name, extent Units, expression E, expression Second, class... Rest>
auto gru(const E&, const Second&, const Rest&...) {
  TAGMA_TAKES_ONE_SEQUENCE("gru", Second);
}

/// Long short-term memory, Hochreiter and Schmidhuber 1997, as TensorFlow's LSTMCell has it, without peepholes:
///
///     [i, j, f, o] = [x, h] * kernel + bias
///     c = sigmoid(f + 1) * c + sigmoid(i) * tanh(j)
///     h = tanh(c) * sigmoid(o)
///
/// with variables "<Name>/kernel" and "<Name>/bias". The 1 lets memories last before training says otherwise
/// (Jozefowicz, Zaremba, Sutskever 2015).
template <fixed_string Name, extent Units, expression E, bool AllSteps = false, bool Unrolled = false,
          class Initial = decltype(glorot_uniform), class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto lstm(const E& x, recurrent_output<AllSteps, Unrolled> = {},
                                  const Initial& initial = glorot_uniform) {
  TAGMA_NEEDS_NAME("lstm", Name);
  TAGMA_NEEDS_SEQUENCE(Unrolled, typename E::spec_type);
  if constexpr (diagnose::is_sequence<Unrolled, typename E::spec_type> &&
                diagnose::is_floating_point<typename E::spec_type>) {
    using T = typename E::element_type;
    const auto kernel = variable<Name / "kernel", T, E::spec.dims[2] + Units, 4 * Units>(initial);
    const auto bias = variable<Name / "bias", T, 4 * Units>(zeros);
    return detail::make_recurrent<op::lstm_cell, Units, AllSteps, Unrolled, Place>(x, kernel, bias);
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto lstm(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("lstm", "<\"name\", 32>(x)", Rest...);
}
/// With a second tensor: TAGMA-E318.
template <fixed_string Name, extent Units, expression E, expression Second, class... Rest>
auto lstm(const E&, const Second&, const Rest&...) {
  TAGMA_TAKES_ONE_SEQUENCE("lstm", Second);
}
/// @}

}  // namespace tagma

#undef TAGMA_TAKES_ONE_SEQUENCE
#undef TAGMA_NEEDS_SEQUENCE
