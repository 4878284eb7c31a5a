// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Operators of expressions: + - * / and unary minus, comparisons, logic. Equality is `tagma::equal`, because handles
/// themselves are compared by type.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

/// The operators of expressions are `add`, `subtract`, `multiply`, `divide`, `less`, `less_equal`, `greater`,
/// `greater_equal`, `negate`, `logical_and`, `logical_or` and `logical_not`; one side of + - * / and of a comparison
/// may be a plain number. Equality is `equal`.
/// @{
template <class A, class B, class Place = TAGMA_FRESH_TYPE(A)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator+(const A& a, const B& b) {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::add, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE(A)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator-(const A& a, const B& b) {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::subtract, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE(A)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator*(const A& a, const B& b) {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::multiply, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE(A)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator/(const A& a, const B& b) {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::divide, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE(A)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator<(const A& a, const B& b) {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::less, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE(A)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator<=(const A& a, const B& b) {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::less_equal, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE(A)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator>(const A& a, const B& b) {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::greater, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE(A)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator>=(const A& a, const B& b) {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::greater_equal, Place>(a, b);
}
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto operator-(const E& e) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  return detail::make_node<op::negate, ir::attributes<0>{}, Place>(e);
}
template <expression A, expression B, class Place = TAGMA_FRESH_TYPE(A)>
[[nodiscard]] constexpr auto operator&&(const A& a, const B& b) {
  TAGMA_NEEDS_BOOLEANS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::logical_and, Place>(a, b);
}
template <expression A, expression B, class Place = TAGMA_FRESH_TYPE(A)>
[[nodiscard]] constexpr auto operator||(const A& a, const B& b) {
  TAGMA_NEEDS_BOOLEANS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::logical_or, Place>(a, b);
}
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto operator!(const E& e) {
  TAGMA_NEEDS_BOOLEANS(typename E::spec_type);
  return detail::make_node<op::logical_not, ir::attributes<0>{}, Place>(e);
}
/// @}

namespace diagnose {
/// It has a value when it is written.
template <class T>
inline constexpr bool can_be_printed = !expression<T>;
}  // namespace diagnose

/// What has no value yet is not printed: TAGMA-E171.
template <class Stream, expression E>
Stream& operator<<(Stream& stream, const E&) {
  static_assert(
      diagnose::can_be_printed<E>,
      "TAGMA-E171 <<: an expression has no value before a run: print session.run(e), or tagma::explain(program)");
  return stream;
}

}  // namespace tagma
