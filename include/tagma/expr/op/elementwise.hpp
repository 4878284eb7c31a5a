// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What all element-wise operations share: shape inference by NumPy broadcasting, static rules, callable objects.

#include "tagma/base/diagnose.hpp"
#include "tagma/expr/literal.hpp"

namespace tagma {

namespace diagnose {
/// Two operands have one element type.
template <class A, class B>
inline constexpr bool same_element_type = std::is_same_v<typename A::element_type, typename B::element_type>;
/// Two shapes are aligned at the last axis and agree, or one extent is 1.
template <class A, class B>
inline constexpr bool shapes_broadcast = broadcastable(A::value.dims, B::value.dims);
template <class A>
inline constexpr bool is_floating_point = is_floating(A::value.type);
template <class A>
inline constexpr bool is_number = is_numeric(A::value.type);
template <class A>
inline constexpr bool is_boolean = A::value.type == dtype::boolean;
template <class A>
inline constexpr bool is_integral = is_integer(A::value.type);
/// A C++ number written beside a tensor keeps its value: no fraction meets an integer tensor.
template <class Scalar, class Element>
inline constexpr bool scalar_fits = std::is_floating_point_v<Element> || std::is_same_v<Element, float16> ||
                                    std::is_same_v<Element, bfloat16> || std::is_integral_v<Scalar>;
}  // namespace diagnose

namespace op {

/// The spec of an element-wise result: the broadcast shape, the element type of input `from`.
constexpr const char* infer_elementwise(ir::infer_args& a, std::size_t from = 0) {
  a.out = a.in[0];
  for (std::size_t i = 1; i < a.in.size(); ++i) {
    if (!broadcastable(a.out.dims, a.in[i].dims)) return "shapes do not broadcast";
    a.out.dims = broadcast(a.out.dims, a.in[i].dims);
  }
  a.out.type = a.in[from].type;
  return nullptr;
}

/// Base of the tags of element-wise operations whose result has the type of their first input.
struct elementwise {
  static constexpr ir::op_kind kind = ir::op_kind::elementwise;
  static constexpr const char* infer(ir::infer_args& a) { return infer_elementwise(a); }
};

/// Base of the tags of element-wise operations that answer yes or no.
struct elementwise_predicate {
  static constexpr ir::op_kind kind = ir::op_kind::elementwise;
  static constexpr const char* infer(ir::infer_args& a) {
    const char* problem = infer_elementwise(a);
    a.out.type = dtype::boolean;
    return problem;
  }
};

}  // namespace op

namespace detail {

template <class A, class B>
constexpr bool check_elementwise() {
  if constexpr (expression<A> && expression<B>) {
    using x = typename A::spec_type;
    using y = typename B::spec_type;
    static_assert(diagnose::same_element_type<x, y>,
                  "TAGMA-E010 element-wise operation: both operands need the same element type; use tagma::cast");
    static_assert(diagnose::shapes_broadcast<x, y>, "TAGMA-E011 element-wise operation: the shapes do not broadcast");
    return diagnose::same_element_type<x, y> && diagnose::shapes_broadcast<x, y>;
  } else if constexpr (expression<A>) {
    static_assert(
        diagnose::scalar_fits<B, typename A::element_type>,
        "TAGMA-E015 element-wise operation: the fraction of this number would be lost beside an integer tensor");
    return diagnose::scalar_fits<B, typename A::element_type>;
  } else {
    return check_elementwise<B, A>();
  }
}

template <class A, class B>
concept operands = (expression<A> && (expression<B> || scalar<B>)) || (scalar<A> && expression<B>);

/// The node of a two-operand operation; either operand may be a plain number.
template <class Op, class Place, class A, class B>
[[nodiscard]] constexpr auto make_binary(const A& a, const B& b) {
  if constexpr (check_elementwise<A, B>()) {
    using T = typename common_element<A, B>::type;
    return make_node<Op, ir::attributes<0>{}, Place>(as_expression<T, Place, 0>(a), as_expression<T, Place, 1>(b));
  }
}

/// Which element types an operation accepts.
enum class accepts : std::uint8_t { anything, numbers, floats, booleans };

template <accepts What, class Spec>
constexpr bool check_type() {
  if constexpr (What == accepts::floats) {
    static_assert(diagnose::is_floating_point<Spec>,
                  "TAGMA-E014 this operation needs a floating element type; use tagma::cast<float>");
    return diagnose::is_floating_point<Spec>;
  } else if constexpr (What == accepts::numbers) {
    static_assert(diagnose::is_number<Spec>, "TAGMA-E016 this operation needs numbers, not bool or string");
    return diagnose::is_number<Spec>;
  } else if constexpr (What == accepts::booleans) {
    static_assert(diagnose::is_boolean<Spec>, "TAGMA-E017 this operation needs bool");
    return diagnose::is_boolean<Spec>;
  } else {
    return true;
  }
}

/// The node of a one-operand operation that accepts the given element types.
template <class Op, accepts What, class Place, class E>
[[nodiscard]] constexpr auto make_unary(const E& e) {
  if constexpr (check_type<What, typename E::spec_type>()) return make_node<Op, ir::attributes<0>{}, Place>(e);
}

/// The node of a two-operand operation that accepts the given element types.
template <class Op, accepts What, class Place, class A, class B>
[[nodiscard]] constexpr auto make_checked_binary(const A& a, const B& b) {
  using T = typename common_element<A, B>::type;
  if constexpr (check_type<What, spec<T>>() && check_elementwise<A, B>())
    return make_node<Op, ir::attributes<0>{}, Place>(as_expression<T, Place, 0>(a), as_expression<T, Place, 1>(b));
}

}  // namespace detail
}  // namespace tagma
