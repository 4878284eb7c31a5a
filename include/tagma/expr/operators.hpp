// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Operators of expressions: + - * / and unary minus, comparisons, logic. Equality is `tagma::equal`, because handles
/// themselves are compared by type.

#include "tagma/expr/op/arithmetic.hpp"

namespace tagma {

template <class A, class B, class Place = TAGMA_FRESH_TYPE>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator+(const A& a, const B& b) {
  return detail::make_checked_binary<op::add, detail::accepts::numbers, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator-(const A& a, const B& b) {
  return detail::make_checked_binary<op::subtract, detail::accepts::numbers, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator*(const A& a, const B& b) {
  return detail::make_checked_binary<op::multiply, detail::accepts::numbers, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator/(const A& a, const B& b) {
  return detail::make_checked_binary<op::divide, detail::accepts::numbers, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator<(const A& a, const B& b) {
  return detail::make_checked_binary<op::less, detail::accepts::numbers, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator<=(const A& a, const B& b) {
  return detail::make_checked_binary<op::less_equal, detail::accepts::numbers, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator>(const A& a, const B& b) {
  return detail::make_checked_binary<op::greater, detail::accepts::numbers, Place>(a, b);
}
template <class A, class B, class Place = TAGMA_FRESH_TYPE>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto operator>=(const A& a, const B& b) {
  return detail::make_checked_binary<op::greater_equal, detail::accepts::numbers, Place>(a, b);
}
template <expression E, class Place = TAGMA_FRESH_TYPE>
[[nodiscard]] constexpr auto operator-(const E& e) {
  return detail::make_unary<op::negate, detail::accepts::numbers, Place>(e);
}
template <expression A, expression B, class Place = TAGMA_FRESH_TYPE>
[[nodiscard]] constexpr auto operator&&(const A& a, const B& b) {
  return detail::make_checked_binary<op::logical_and, detail::accepts::booleans, Place>(a, b);
}
template <expression A, expression B, class Place = TAGMA_FRESH_TYPE>
[[nodiscard]] constexpr auto operator||(const A& a, const B& b) {
  return detail::make_checked_binary<op::logical_or, detail::accepts::booleans, Place>(a, b);
}
template <expression E, class Place = TAGMA_FRESH_TYPE>
[[nodiscard]] constexpr auto operator!(const E& e) {
  return detail::make_unary<op::logical_not, detail::accepts::booleans, Place>(e);
}

}  // namespace tagma
