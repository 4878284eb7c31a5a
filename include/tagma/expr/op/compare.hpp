// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Comparison, logic, selection and conversion, element by element.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/elementwise.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// Elements of one type convert to the other.
template <class From, class To>
inline constexpr bool converts = From::value.type != dtype::string&& dtype_of<To> != dtype::string;
/// Elements are values of a fixed size.
template <class A>
inline constexpr bool is_no_string = A::value.type != dtype::string;
/// Two operands have one element type, or integers of two types, which are compared by value.
template <class A, class B>
inline constexpr bool comparable = same_element_type<A, B>;
template <class T, extent... M, class U, extent... N>
inline constexpr bool comparable<spec<T, M...>, spec<U, N...>> = std::is_same_v<T, U> ||
                                                                 (is_integer(dtype_of<T>) && is_integer(dtype_of<U>));
/// A condition broadcasts with what it selects from; a plain number fits every condition.
template <class Condition, class Value>
inline constexpr bool broadcasts_with = true;
template <class Condition, expression Value>
inline constexpr bool broadcasts_with<Condition, Value> = broadcastable(Condition::value.dims,
                                                                        Value::spec_type::value.dims);
template <class Condition, class A, class B>
inline constexpr bool condition_broadcasts = broadcasts_with<Condition, A>&& broadcasts_with<Condition, B>;
}  // namespace diagnose

namespace op {

struct equal : elementwise_predicate {
  static constexpr const char* name = "equal";
  static constexpr void takes(auto& t) { t.no_strings(2); }
};
struct not_equal : elementwise_predicate {
  static constexpr const char* name = "not_equal";
  static constexpr void takes(auto& t) { t.no_strings(2); }
};
struct less : elementwise_predicate {
  static constexpr const char* name = "less";
  static constexpr void takes(auto& t) { t.numbers(2); }
};
struct less_equal : elementwise_predicate {
  static constexpr const char* name = "less_equal";
  static constexpr void takes(auto& t) { t.numbers(2); }
};
struct greater : elementwise_predicate {
  static constexpr const char* name = "greater";
  static constexpr void takes(auto& t) { t.numbers(2); }
};
struct greater_equal : elementwise_predicate {
  static constexpr const char* name = "greater_equal";
  static constexpr void takes(auto& t) { t.numbers(2); }
};
struct logical_and : elementwise_predicate {
  static constexpr const char* name = "logical_and";
  static constexpr void takes(auto& t) { t.booleans(2); }
};
struct logical_or : elementwise_predicate {
  static constexpr const char* name = "logical_or";
  static constexpr void takes(auto& t) { t.booleans(2); }
};
struct logical_not : elementwise_predicate {
  static constexpr const char* name = "logical_not";
  static constexpr void takes(auto& t) { t.booleans(1); }
};

/// `condition ? a : b`, element by element; all three broadcast.
struct select {
  static constexpr const char* name = "select";
  static constexpr ir::op_kind kind = ir::op_kind::elementwise;
  static constexpr void takes(auto& t) { t.inputs(3), t.boolean_at(0), t.no_string_at(1), t.alike(2, 1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return infer_elementwise(a, 1); }
  static constexpr void gradient(auto& g) {
    const auto zero = g.constant(0);
    g.set(1, g.emit(select{}, g.in(0), g.upstream, zero));
    g.set(2, g.emit(select{}, g.in(0), zero, g.upstream));
  }
};

/// Converts to the element type in attribute 0. Floating to integer truncates towards zero.
struct cast {
  static constexpr const char* name = "cast";
  static constexpr ir::op_kind kind = ir::op_kind::elementwise;
  static constexpr void takes(auto& t) { t.no_strings(1), t.element_type("element type"); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {static_cast<dtype>(a.attributes[0]), a.in[0].dims};
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    if (!is_floating(g.in_spec(0).type) || !is_floating(g.g.spec(g.self).type)) return;
    g.set(0, g.emit_with(cast{}, ir::pack_attributes(g.in_spec(0).type), g.upstream));
  }
};

}  // namespace op

namespace detail {

/// 64-bit integers hold the values of all other integers.
template <class Place, int Position, expression E>
[[nodiscard]] constexpr auto as_int64(const E& e) {
  if constexpr (std::is_same_v<typename E::element_type, std::int64_t>)
    return e;
  else
    return make_node<op::cast, ir::pack_attributes(dtype::int64), part<Place, Position>>(e);
}

template <class Op, class Place, class A, class B>
[[nodiscard]] constexpr auto compare(const A& a, const B& b) {
  if constexpr (diagnose::same_element_type<operand<A>, operand<B>>)
    return make_binary<Op, Place>(a, b);
  else if constexpr (diagnose::comparable<operand<A>, operand<B>>)
    return make_binary<Op, Place>(as_int64<Place, 0>(a), as_int64<Place, 1>(b));
}

}  // namespace detail

/// The element type of a spec is number or bool.
#define TAGMA_NEEDS_NO_STRING(...)                            \
  static_assert(::tagma::diagnose::is_no_string<__VA_ARGS__>, \
                "TAGMA-E153 this operation needs numbers or bool, not string")

/// `a == b` and so on, element by element with broadcasting; the result is a tensor of bool. Integers of two types are
/// compared by value. Raises TAGMA-E153 for strings, TAGMA-E010, E011 and E015 as arithmetic does.
/// @{

/// a == b.
inline constexpr auto equal =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NO_STRING(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::equal, Place>(a, b);
};
/// a != b.
inline constexpr auto not_equal =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NO_STRING(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::not_equal, Place>(a, b);
};
/// a < b, of numbers.
inline constexpr auto less =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::less, Place>(a, b);
};
/// a <= b, of numbers.
inline constexpr auto less_equal =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::less_equal, Place>(a, b);
};
/// a > b, of numbers.
inline constexpr auto greater =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::greater, Place>(a, b);
};
/// a >= b, of numbers.
inline constexpr auto greater_equal =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_NUMBERS(detail::common_spec<A, B>);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return detail::compare<op::greater_equal, Place>(a, b);
};
/// @}

/// Logic over tensors of bool, element by element with broadcasting. Raises TAGMA-E017 for other element types.
/// @{

/// a and b.
inline constexpr auto logical_and =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_BOOLEANS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::logical_and, Place>(a, b);
};
/// a or b.
inline constexpr auto logical_or =
    []<class A, class B, class Place = TAGMA_FRESH_TYPE(A)>(const A& a, const B& b) requires detail::operands<A, B> {
  TAGMA_NEEDS_BOOLEANS(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  return detail::make_binary<op::logical_or, Place>(a, b);
};
/// not a.
inline constexpr auto logical_not = []<class E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_BOOLEANS(typename E::spec_type);
    return detail::make_node<op::logical_not, ir::attributes<0>{}, Place>(e);
  } else {
    TAGMA_REFUSES_OPERAND("logical_not", E);
  }
};
/// @}

/// Converts every element to `T`. Raises TAGMA-E018 for strings.
/// @tparam T the element type of the result; floating to integer truncates towards zero.
template <element T, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto cast(const E& e) {
  static_assert(diagnose::converts<typename E::spec_type, T>,
                "TAGMA-E018 cast: a string is not converted to or from numbers");
  if constexpr (diagnose::converts<typename E::spec_type, T>)
    return detail::make_node<op::cast, ir::pack_attributes(dtype_of<T>), Place>(e);
}

/// `condition ? a : b`, element by element with broadcasting; one of `a` and `b` may be a plain number.
/// Raises TAGMA-E017 if the condition is not bool, TAGMA-E153 for strings, TAGMA-E010 and TAGMA-E011 if type or shapes
/// differ.
template <expression C, class A, class B, class Place = TAGMA_FRESH_TYPE(C)>
  requires detail::operands<A, B>
[[nodiscard]] constexpr auto select(const C& condition, const A& a, const B& b) {
  using condition_type = typename C::spec_type;
  TAGMA_NEEDS_BOOLEANS(condition_type);
  TAGMA_NEEDS_NO_STRING(detail::common_spec<A, B>);
  TAGMA_NEEDS_OPERANDS(A, B);
  static_assert(diagnose::condition_broadcasts<condition_type, A, B>,
                "TAGMA-E011 select: the condition does not broadcast with what it selects from");
  if constexpr (diagnose::is_boolean<condition_type> && detail::operands_agree<A, B> &&
                diagnose::condition_broadcasts<condition_type, A, B>) {
    using T = typename detail::common_element<A, B>::type;
    return detail::make_node<op::select, ir::attributes<0>{}, Place>(condition, detail::as_expression<T, Place, 0>(a),
                                                                     detail::as_expression<T, Place, 1>(b));
  }
}

}  // namespace tagma

#undef TAGMA_NEEDS_NO_STRING
