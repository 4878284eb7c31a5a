// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Arithmetic, element by element.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/compare.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

struct broadcast_like;
struct expand_dims;
struct multiply;

struct negate : elementwise {
  static constexpr const char* name = "negate";
  static constexpr void takes(auto& t) { t.numbers(1); }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(negate{}, g.upstream)); }
  static constexpr void fold(ir::fold_args& f) {
    if (const auto c = f.constant(0); c.known) f.use_constant(-c.value);
  }
};

struct add : elementwise {
  static constexpr const char* name = "add";
  static constexpr void takes(auto& t) { t.numbers(2); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.upstream);
    g.set(1, g.upstream);
  }
  static constexpr void fold(ir::fold_args& f) {
    const auto a = f.constant(0), b = f.constant(1);
    if (a.known && b.known)
      f.use_constant(a.value + b.value);
    else if (a.is(0))
      f.use_input(1);
    else if (b.is(0))
      f.use_input(0);
  }
};

struct subtract : elementwise {
  static constexpr const char* name = "subtract";
  static constexpr void takes(auto& t) { t.numbers(2); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.upstream);
    g.set(1, g.emit(negate{}, g.upstream));
  }
  static constexpr void fold(ir::fold_args& f) {
    const auto a = f.constant(0), b = f.constant(1);
    if (a.known && b.known)
      f.use_constant(a.value - b.value);
    else if (b.is(0))
      f.use_input(0);
  }
};

/// The value that input `i` has everywhere, if the compiler knows it: a number, also one that was stretched, as the
/// gradient of a sum is. Not where extents vary: the node that is simplified would be the one that checks them.
[[nodiscard]] constexpr ir::constant_value value_everywhere(const ir::fold_args& f, int i) {
  ir::node_id of = f.in(i);
  for (const void* key = f.g.info(of).key; key == &ir::key<broadcast_like> || key == &ir::key<expand_dims>;
       key = f.g.info(of).key) {
    if (f.g[of].controls > 0 || !f.out.dims.is_static()) return {};
    of = f.g.input(of, 0);
  }
  return ir::constant_of(f.g, of);
}

struct multiply : elementwise {
  static constexpr const char* name = "multiply";
  static constexpr void takes(auto& t) { t.numbers(2); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit(multiply{}, g.upstream, g.in(1)));
    g.set(1, g.emit(multiply{}, g.upstream, g.in(0)));
  }
  static constexpr void fold(ir::fold_args& f) {
    const auto a = value_everywhere(f, 0), b = value_everywhere(f, 1);
    if (a.known && b.known)
      f.use_constant(a.value * b.value);
    else if (a.is(1))
      f.use_input(1);
    else if (b.is(1))
      f.use_input(0);
  }
};

/// Quotient; integers divide towards zero, and an integer divided by zero gives 0.
struct divide : elementwise {
  static constexpr const char* name = "divide";
  static constexpr void takes(auto& t) { t.numbers(2); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit(divide{}, g.upstream, g.in(1)));
    g.set(1, g.emit(negate{}, g.emit(divide{}, g.emit(multiply{}, g.upstream, g.self), g.in(1))));
  }
  static constexpr void fold(ir::fold_args& f) {
    const auto a = f.constant(0), b = f.constant(1);
    if (a.known && b.known && b.value != 0)
      f.use_constant(a.value / b.value);
    else if (b.is(1))
      f.use_input(0);
  }
};

/// The larger of two; where they are equal the gradient goes to the first.
struct maximum : elementwise {
  static constexpr const char* name = "maximum";
  static constexpr void takes(auto& t) { t.numbers(2); }
  static constexpr void gradient(auto& g) {
    const auto first = g.emit(greater_equal{}, g.in(0), g.in(1));
    const auto zero = g.constant(0);
    g.set(0, g.emit(select{}, first, g.upstream, zero));
    g.set(1, g.emit(select{}, first, zero, g.upstream));
  }
};

/// The smaller of two; where they are equal the gradient goes to the first.
struct minimum : elementwise {
  static constexpr const char* name = "minimum";
  static constexpr void takes(auto& t) { t.numbers(2); }
  static constexpr void gradient(auto& g) {
    const auto first = g.emit(less_equal{}, g.in(0), g.in(1));
    const auto zero = g.constant(0);
    g.set(0, g.emit(select{}, first, g.upstream, zero));
    g.set(1, g.emit(select{}, first, zero, g.upstream));
  }
};

struct sign : elementwise {
  static constexpr const char* name = "sign";
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { t.numbers(1); }
};

struct abs : elementwise {
  static constexpr const char* name = "abs";
  static constexpr void takes(auto& t) { t.numbers(1); }
  static constexpr void gradient(auto& g) { g.set(0, g.emit(multiply{}, g.upstream, g.emit(sign{}, g.in(0)))); }
};

struct square : elementwise {
  static constexpr const char* name = "square";
  static constexpr void takes(auto& t) { t.numbers(1); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit(multiply{}, g.upstream, g.emit(multiply{}, g.constant(2), g.in(0))));
  }
};

struct floor : elementwise {
  static constexpr const char* name = "floor";
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { t.floats(1); }
};
struct ceil : elementwise {
  static constexpr const char* name = "ceil";
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { t.floats(1); }
};
/// To the nearest integer, halves to even.
struct round : elementwise {
  static constexpr const char* name = "round";
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { t.floats(1); }
};

}  // namespace op

/// Element-wise arithmetic with NumPy broadcasting; one operand may be a plain number. Raises TAGMA-E010 for different
/// element types, TAGMA-E011 for shapes that do not broadcast, TAGMA-E015 for a fraction beside integers.
/// @{

/// a + b.
inline constexpr auto add =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::add, Place>(a, b);
};
/// a - b.
inline constexpr auto subtract =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::subtract, Place>(a, b);
};
/// a * b.
inline constexpr auto multiply =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::multiply, Place>(a, b);
};
/// a / b; of integers rounded towards zero, and an integer divided by 0 is 0.
inline constexpr auto divide =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::divide, Place>(a, b);
};
/// The larger of both; where they are equal the gradient goes to the first.
inline constexpr auto maximum =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::maximum, Place>(a, b);
};
/// The smaller of both; where they are equal the gradient goes to the first.
inline constexpr auto minimum =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::minimum, Place>(a, b);
};
/// @}

/// Element by element, of the shape of the operand. Raises TAGMA-E016 for an element type that is no number, and where
/// fractions are rounded TAGMA-E014 for one that is not floating.
/// @{

/// -x.
inline constexpr auto negate = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_NUMBERS(typename E::spec_type);
    return detail::make_node<op::negate, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("negate", E);
  }
};
/// |x|; the gradient at 0 is 0.
inline constexpr auto abs = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_NUMBERS(typename E::spec_type);
    return detail::make_node<op::abs, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("abs", E);
  }
};
/// -1, 0 or 1.
inline constexpr auto sign = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_NUMBERS(typename E::spec_type);
    return detail::make_node<op::sign, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("sign", E);
  }
};
/// x * x.
inline constexpr auto square = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_NUMBERS(typename E::spec_type);
    return detail::make_node<op::square, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("square", E);
  }
};
/// The largest integer that is at most x, floating. Its gradient is 0.
inline constexpr auto floor = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::floor, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("floor", E);
  }
};
/// The smallest integer that is at least x, floating. Its gradient is 0.
inline constexpr auto ceil = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::ceil, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("ceil", E);
  }
};
/// The nearest integer, halves to even, floating. Its gradient is 0.
inline constexpr auto round = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    return detail::make_node<op::round, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("round", E);
  }
};
/// @}

}  // namespace tagma
