// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One step of a recurrent layer, with states and parameters that the program has: for loops of its own, sequences that
/// are fed step by step, and layers that share parameters.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/cell.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// An input [batch, features] and a state [batch, units] of one batch; features and units are static.
template <class X, class H>
inline constexpr bool is_step = [] {
  const shape &x = X::value.dims, &h = H::value.dims;
  return x.rank == 2 && h.rank == 2 && x[1] != dyn && h[1] != dyn && compatible(x[0], h[0]);
}();
/// The parameters of `Gates` gates: a kernel [features + units, Gates * units] and a bias [Gates * units].
template <class X, class H, class Kernel, class Bias, int Gates>
inline constexpr bool are_gates = [] {
  if constexpr (!is_step<X, H>) {
    return false;
  } else {
    const shape &x = X::value.dims, &h = H::value.dims;
    return Kernel::value.dims == shape{x[1] + h[1], Gates * h[1]} && Bias::value.dims == shape{Gates * h[1]};
  }
}();
}  // namespace diagnose

namespace detail {

/// [x, h] * kernel.
template <class Place, class X, class H, class Kernel>
[[nodiscard]] constexpr auto joined_product(const X& x, const H& h, const Kernel& kernel) {
  return make_node<op::matmul, ir::pack_attributes(false, false), part<Place, 1>>(
      make_node<op::concat, ir::pack_attributes(1), part<Place, 0>>(x, h), kernel);
}

}  // namespace detail

/// A step of long short-term memory, as `lstm` does it with variables of its own:
///
///     [i, j, f, o] = [x, h] * kernel + bias
///     c' = sigmoid(f + 1) * c + sigmoid(i) * tanh(j)
///     h' = tanh(c') * sigmoid(o)
///
/// @param x [batch, features], floating
/// @param h,c [batch, units]: what the step before returned, or zeros
/// @param kernel [features + units, 4 * units]
/// @param bias [4 * units]
/// @return a tuple of h' and c', both [batch, units]
/// Raises TAGMA-E010 for different element types, TAGMA-E130 for other shapes.
template <expression X, expression H, expression C, expression Kernel, expression Bias,
          class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto lstm_cell(const X& x, const H& h, const C& c, const Kernel& kernel, const Bias& bias) {
  using in = typename X::spec_type;
  constexpr bool one_type = diagnose::one_element_type<in, typename H::spec_type, typename C::spec_type,
                                                       typename Kernel::spec_type, typename Bias::spec_type>;
  static_assert(diagnose::one_element_type<in, typename H::spec_type, typename C::spec_type, typename Kernel::spec_type,
                                           typename Bias::spec_type>,
                "TAGMA-E010 lstm_cell: input, states and parameters need one element type");
  TAGMA_NEEDS_FLOATS(in);
  constexpr bool fits =
      diagnose::are_gates<in, typename H::spec_type, typename Kernel::spec_type, typename Bias::spec_type, 4> &&
      diagnose::have_one_shape<typename H::spec_type, typename C::spec_type>;
  static_assert(diagnose::are_gates<in, typename H::spec_type, typename Kernel::spec_type, typename Bias::spec_type, 4>,
                "TAGMA-E130 lstm_cell: needs x [batch, features], h and c [batch, units], a kernel [features + units, "
                "4 * units] and a bias [4 * units]; features and units are static");
  static_assert(diagnose::have_one_shape<typename H::spec_type, typename C::spec_type>,
                "TAGMA-E130 lstm_cell: h and c need one shape, [batch, units]");
  if constexpr (one_type && fits && diagnose::is_floating_point<in>) {
    const auto product = detail::joined_product<Place>(x, h, kernel);
    const auto results =
        detail::make_nodes<op::lstm_gates, ir::attributes<0>{}, detail::part<Place, 2>>(product, c, bias);
    return std::tuple{std::get<0>(results), std::get<1>(results)};
  }
}

/// A step of a gated recurrent unit, as `gru` does it with variables of its own:
///
///     [r, u] = sigmoid([x, h] * gates + gates_bias)
///     c = tanh([x, r * h] * candidate + candidate_bias)
///     h' = u * h + (1 - u) * c
///
/// @param x [batch, features], floating
/// @param h [batch, units]: what the step before returned, or zeros
/// @param gates,gates_bias [features + units, 2 * units] and [2 * units]
/// @param candidate,candidate_bias [features + units, units] and [units]
/// @return h', [batch, units]
/// Raises TAGMA-E010 for different element types, TAGMA-E131 for other shapes.
template <expression X, expression H, expression Gates, expression GatesBias, expression Candidate,
          expression CandidateBias, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto gru_cell(const X& x, const H& h, const Gates& gates, const GatesBias& gates_bias,
                                      const Candidate& candidate, const CandidateBias& candidate_bias) {
  using in = typename X::spec_type;
  using state = typename H::spec_type;
  constexpr bool one_type =
      diagnose::one_element_type<in, state, typename Gates::spec_type, typename GatesBias::spec_type,
                                 typename Candidate::spec_type, typename CandidateBias::spec_type>;
  static_assert(diagnose::one_element_type<in, state, typename Gates::spec_type, typename GatesBias::spec_type,
                                           typename Candidate::spec_type, typename CandidateBias::spec_type>,
                "TAGMA-E010 gru_cell: input, state and parameters need one element type");
  TAGMA_NEEDS_FLOATS(in);
  constexpr bool fits =
      diagnose::are_gates<in, state, typename Gates::spec_type, typename GatesBias::spec_type, 2> &&
      diagnose::are_gates<in, state, typename Candidate::spec_type, typename CandidateBias::spec_type, 1>;
  static_assert(diagnose::are_gates<in, state, typename Gates::spec_type, typename GatesBias::spec_type, 2>,
                "TAGMA-E131 gru_cell: needs x [batch, features], h [batch, units], gates [features + units, 2 * units] "
                "and their bias [2 * units]; features and units are static");
  static_assert(diagnose::are_gates<in, state, typename Candidate::spec_type, typename CandidateBias::spec_type, 1>,
                "TAGMA-E131 gru_cell: needs a candidate kernel [features + units, units] and its bias [units]");
  if constexpr (one_type && fits && diagnose::is_floating_point<in>) {
    const auto reset = detail::make_nodes<op::gru_gates, ir::attributes<0>{}, detail::part<Place, 2>>(
        detail::joined_product<detail::part<Place, 0>>(x, h, gates), h, gates_bias);
    const auto product = detail::joined_product<detail::part<Place, 1>>(x, std::get<0>(reset), candidate);
    return std::get<0>(detail::make_nodes<op::gru_output, ir::attributes<0>{}, detail::part<Place, 3>>(
        std::get<1>(reset), h, product, candidate_bias));
  }
}

}  // namespace tagma
