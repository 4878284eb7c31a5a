// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Elementary functions and activations, element by element, for floating element types.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

struct exp : elementwise {
  static constexpr const char* name = "exp";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(multiply{}, g.upstream, g.self)); }
};
struct log : elementwise {
  static constexpr const char* name = "log";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(divide{}, g.upstream, g.in(0))); }
};
struct log1p : elementwise {
  static constexpr const char* name = "log1p";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit(divide{}, g.upstream, g.emit(add{}, g.in(0), g.constant(1))));
  }
};
struct expm1 : elementwise {
  static constexpr const char* name = "expm1";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit(multiply{}, g.upstream, g.emit(add{}, g.self, g.constant(1))));
  }
};
struct sqrt : elementwise {
  static constexpr const char* name = "sqrt";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit(divide{}, g.emit(multiply{}, g.upstream, g.constant(0.5)), g.self));
  }
};
/// 1 / sqrt(x).
struct rsqrt : elementwise {
  static constexpr const char* name = "rsqrt";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) {
    const auto cubed = g.emit(multiply{}, g.self, g.emit(square{}, g.self));
    g.set(0, g.emit(multiply{}, g.upstream, g.emit(multiply{}, g.constant(-0.5), cubed)));
  }
};
struct tanh : elementwise {
  static constexpr const char* name = "tanh";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) {
    const auto squared = g.emit(square{}, g.self);
    g.set(0, g.emit(multiply{}, g.upstream, g.emit(subtract{}, g.constant(1), squared)));
  }
};
/// 1 / (1 + exp(-x)).
struct sigmoid : elementwise {
  static constexpr const char* name = "sigmoid";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) {
    const auto slope = g.emit(multiply{}, g.self, g.emit(subtract{}, g.constant(1), g.self));
    g.set(0, g.emit(multiply{}, g.upstream, slope));
  }
};
/// log(1 + exp(x)), without overflow.
struct softplus : elementwise {
  static constexpr const char* name = "softplus";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(multiply{}, g.upstream, g.emit(sigmoid{}, g.in(0)))); }
};
struct erf : elementwise {
  static constexpr const char* name = "erf";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) {
    const auto bell = g.emit(exp{}, g.emit(negate{}, g.emit(square{}, g.in(0))));
    g.set(0, g.emit(multiply{}, g.upstream, g.emit(multiply{}, g.constant(1.12837916709551257390), bell)));
  }
};
struct cos;
struct sin : elementwise {
  static constexpr const char* name = "sin";
  static constexpr void gradient(auto& g);
  static constexpr void takes(auto& t) { t.floats(1); }
};
struct cos : elementwise {
  static constexpr const char* name = "cos";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit(negate{}, g.emit(multiply{}, g.upstream, g.emit(sin{}, g.in(0)))));
  }
};
constexpr void sin::gradient(auto& g) { g.set(0, g.emit(multiply{}, g.upstream, g.emit(cos{}, g.in(0)))); }

/// x to the power y. The gradient by x is zero where both are, that by y where x is not positive.
struct power : elementwise {
  static constexpr const char* name = "power";
  static constexpr void takes(auto& t) { t.floats(2); }
  static constexpr void gradient(auto& g) {
    const auto zero = g.constant(0), one = g.constant(1);
    // Of 0 to the power 0, as if it were 1 to that power, so that 0 is not multiplied by infinity.
    const auto no_zero = g.emit(select{}, g.emit(equal{}, g.in(0), zero), one, g.in(0));
    const auto base = g.emit(select{}, g.emit(equal{}, g.in(1), zero), no_zero, g.in(0));
    const auto lower = g.emit(power{}, base, g.emit(subtract{}, g.in(1), one));
    g.set(0, g.emit(multiply{}, g.upstream, g.emit(multiply{}, g.in(1), lower)));
    const auto positive = g.emit(greater{}, g.in(0), zero);
    const auto logarithm = g.emit(log{}, g.emit(select{}, positive, g.in(0), one));
    const auto by_power = g.emit(select{}, positive, g.emit(multiply{}, g.self, logarithm), zero);
    g.set(1, g.emit(multiply{}, g.upstream, by_power));
  }
};

/// `upstream` where the activation `y` is positive, else 0.
struct relu_gradient : elementwise {
  static constexpr const char* name = "relu_gradient";
  static constexpr void takes(auto& t) { t.floats(2); }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(relu_gradient{}, g.upstream, g.in(1))); }
};
/// max(x, 0); the gradient at 0 is 0.
struct relu : elementwise {
  static constexpr const char* name = "relu";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(relu_gradient{}, g.upstream, g.self)); }
};

}  // namespace op

/// Element by element, of the shape of the operands. Raises TAGMA-E014 for an element type that is not floating.
/// @{

/// e to the power x.
inline constexpr auto exp = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::exp, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("exp", E);
  }
};
/// The natural logarithm: not a number below 0, minus infinity at 0.
inline constexpr auto log = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::log, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("log", E);
  }
};
/// log(1 + x), exact near 0.
inline constexpr auto log1p = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::log1p, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("log1p", E);
  }
};
/// exp(x) - 1, exact near 0.
inline constexpr auto expm1 = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::expm1, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("expm1", E);
  }
};
/// The square root; not a number below 0.
inline constexpr auto sqrt = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::sqrt, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("sqrt", E);
  }
};
/// 1 / sqrt(x).
inline constexpr auto rsqrt = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::rsqrt, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("rsqrt", E);
  }
};
/// The hyperbolic tangent.
inline constexpr auto tanh = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::tanh, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("tanh", E);
  }
};
/// 1 / (1 + exp(-x)).
inline constexpr auto sigmoid = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::sigmoid, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("sigmoid", E);
  }
};
/// log(1 + exp(x)), without overflow.
inline constexpr auto softplus = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::softplus, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("softplus", E);
  }
};
/// The error function.
inline constexpr auto erf = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::erf, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("erf", E);
  }
};
/// The sine, of radians.
inline constexpr auto sin = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::sin, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("sin", E);
  }
};
/// The cosine, of radians.
inline constexpr auto cos = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::cos, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("cos", E);
  }
};
/// x to the power y, with broadcasting; one operand may be a plain number. The gradient by y is 0 where x is not
/// positive. Raises TAGMA-E010, E011 and E015 as arithmetic does.
inline constexpr auto power =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_FLOATS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::power, Place>(a, b);
};

/// max(x, 0); the gradient at 0 is 0.
inline constexpr auto relu = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::relu, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("relu", E);
  }
};
/// @}

}  // namespace tagma
