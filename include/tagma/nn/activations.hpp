// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Activations composed of elementary functions: one handle and one fused loop each. `tanh`, `sigmoid`, `softplus` and
/// `relu` are operations of their own, in expr/op/math.hpp.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/composition.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace op {

/// expm1(min(x, 0)): what the exponential units add below zero. Bounded above, so that the gradient of the branch that
/// is not taken is finite.
constexpr ir::node_id negative_part(auto& e) { return e.emit(expm1{}, e.emit(minimum{}, e.in(0), e.constant(0))); }

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

struct elu : elementwise_composition<5> {
  static constexpr const char* name = "elu";
  static constexpr void expand(auto& e) {
    const ir::node_id above = e.emit(relu{}, e.in(0));
    e.result = e.emit(add{}, above, negative_part(e));
  }
};
struct selu : elementwise_composition<9> {
  static constexpr const char* name = "selu";
  static constexpr void expand(auto& e) {
    const ir::node_id alpha = e.constant(1.6732632423543772848170429916717);
    const ir::node_id scale = e.constant(1.0507009873554804934193349852946);
    const ir::node_id below = e.emit(multiply{}, alpha, negative_part(e));
    const ir::node_id above = e.emit(relu{}, e.in(0));
    e.result = e.emit(multiply{}, scale, e.emit(add{}, above, below));
  }
};
struct gelu : elementwise_composition<8> {
  static constexpr const char* name = "gelu";
  static constexpr void expand(auto& e) {
    const ir::node_id bell = e.emit(erf{}, e.emit(multiply{}, e.in(0), e.constant(0.70710678118654752440)));
    const ir::node_id twice = e.emit(add{}, bell, e.constant(1));
    const ir::node_id half = e.emit(multiply{}, e.in(0), e.constant(0.5));
    e.result = e.emit(multiply{}, half, twice);
  }
};
struct silu : elementwise_composition<2> {
  static constexpr const char* name = "silu";
  static constexpr void expand(auto& e) { e.result = e.emit(multiply{}, e.in(0), e.emit(sigmoid{}, e.in(0))); }
};
struct relu6 : elementwise_composition<3> {
  static constexpr const char* name = "relu6";
  static constexpr void expand(auto& e) {
    const ir::node_id above = e.emit(relu{}, e.in(0));
    e.result = e.emit(minimum{}, e.constant(6), above);  // in this order the gradient at 6 is 0
  }
};
struct hard_sigmoid : elementwise_composition<8> {
  static constexpr const char* name = "hard_sigmoid";
  static constexpr void expand(auto& e) {
    const ir::node_id slope = e.emit(multiply{}, e.in(0), e.constant(0.2));
    const ir::node_id line = e.emit(add{}, slope, e.constant(0.5));
    const ir::node_id above = e.emit(maximum{}, line, e.constant(0));
    e.result = e.emit(minimum{}, above, e.constant(1));
  }
};
struct softsign : elementwise_composition<4> {
  static constexpr const char* name = "softsign";
  static constexpr void expand(auto& e) {
    const ir::node_id size = e.emit(abs{}, e.in(0));
    e.result = e.emit(divide{}, e.in(0), e.emit(add{}, size, e.constant(1)));
  }
};
/// Inputs: x, the slope below zero.
struct leaky_relu : elementwise_composition<4> {
  static constexpr const char* name = "leaky_relu";
  static constexpr void takes(auto& t) { t.floats(2); }
  static constexpr void expand(auto& e) {
    const ir::node_id positive = e.emit(greater{}, e.in(0), e.constant(0));
    e.result = e.emit(select{}, positive, e.in(0), e.emit(multiply{}, e.in(0), e.in(1)));
  }
};

}  // namespace op

namespace detail {

/// Stands for the slope that TensorFlow gives `leaky_relu` by default.
struct default_slope {};

}  // namespace detail

/// Activations, element by element. Raise TAGMA-E014 for an element type that is not floating.
/// @{

/// x where it is positive, else exp(x) - 1. Clevert, Unterthiner, Hochreiter 2015, with alpha = 1.
inline constexpr auto elu = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (diagnose::is_floating_point<typename E::spec_type>)
      return detail::make_node<op::elu, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("elu", E);
  }
};

/// scale * (x where it is positive, else alpha * (exp(x) - 1)), with the numbers that keep mean 0 and variance 1 from
/// layer to layer. Klambauer et al. 2017.
inline constexpr auto selu = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (diagnose::is_floating_point<typename E::spec_type>)
      return detail::make_node<op::selu, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("selu", E);
  }
};

/// x * Phi(x), where Phi is the normal distribution function: x / 2 * (1 + erf(x / sqrt(2))).
/// Hendrycks and Gimpel 2016.
inline constexpr auto gelu = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (diagnose::is_floating_point<typename E::spec_type>)
      return detail::make_node<op::gelu, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("gelu", E);
  }
};

/// x * sigmoid(x). Elfwing, Uchibe, Doya 2017.
inline constexpr auto silu = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (diagnose::is_floating_point<typename E::spec_type>)
      return detail::make_node<op::silu, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("silu", E);
  }
};
/// The name that Ramachandran, Zoph and Le 2017 gave `silu`.
inline constexpr const auto& swish = silu;

/// min(max(x, 0), 6). Krizhevsky 2010.
inline constexpr auto relu6 = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (diagnose::is_floating_point<typename E::spec_type>)
      return detail::make_node<op::relu6, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("relu6", E);
  }
};

/// The sigmoid as three straight lines: x / 5 + 1 / 2, kept between 0 and 1. Keras 2.
inline constexpr auto hard_sigmoid = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (diagnose::is_floating_point<typename E::spec_type>)
      return detail::make_node<op::hard_sigmoid, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("hard_sigmoid", E);
  }
};

/// x / (1 + |x|).
inline constexpr auto softsign = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (diagnose::is_floating_point<typename E::spec_type>)
      return detail::make_node<op::softsign, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("softsign", E);
  }
};

/// x where it is positive, else alpha * x. Maas, Hannun, Ng 2013.
/// @param alpha a number, by default TensorFlow's 0.2
inline constexpr auto leaky_relu =
    []<class E, class A = detail::default_slope, class Place = TAGMA_FRESH_TYPE(E)>(const E& e, const A& alpha = {}) {
  if constexpr (expression<E>) {
    using T = typename E::element_type;
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    if constexpr (diagnose::is_floating_point<typename E::spec_type>) {
      if constexpr (std::is_same_v<A, detail::default_slope>)
        return detail::make_node<op::leaky_relu, ir::attributes<0>{}, Place>(
            e, detail::make_constant<T, detail::bits_of(0.2)>());
      else
        return detail::make_node<op::leaky_relu, ir::attributes<0>{}, Place>(
            e, detail::as_expression<T, detail::part<Place, 0>, 0>(alpha));
    }
  } else {
    TAGMA_REFUSES_OPERAND("leaky_relu", E);
  }
};
/// @}

}  // namespace tagma
