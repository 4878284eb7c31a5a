// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What all element-wise operations share: shape inference by NumPy broadcasting, static rules, callable objects.

#include "tagma/base/config.hpp"
#include "tagma/base/diagnose.hpp"
#include "tagma/expr/literal.hpp"

namespace tagma {

namespace diagnose {
/// Two operands have one element type; a plain number takes that of the other operand.
template <class A, class B>
inline constexpr bool same_element_type = true;
template <class T, extent... M, class U, extent... N>
inline constexpr bool same_element_type<spec<T, M...>, spec<U, N...>> = std::is_same_v<T, U>;
/// Several operands have one element type.
template <class First, class... Rest>
inline constexpr bool one_element_type = (true && ... && same_element_type<First, Rest>);
/// Two shapes are aligned at the last axis and agree, or one extent is 1.
template <class A, class B>
inline constexpr bool shapes_broadcast = true;
template <class T, extent... M, class U, extent... N>
inline constexpr bool shapes_broadcast<spec<T, M...>, spec<U, N...>> = broadcastable(shape{M...}, shape{N...});
template <class A>
inline constexpr bool is_floating_point = is_floating(A::value.type);
template <class A>
inline constexpr bool is_number = is_numeric(A::value.type);
template <class A>
inline constexpr bool is_boolean = A::value.type == dtype::boolean;
template <class A>
inline constexpr bool is_integral = is_integer(A::value.type);
/// A C++ number written beside a tensor keeps its value: no fraction meets an integer tensor.
template <class A, class B>
inline constexpr bool numbers_fit = true;
template <class T, extent... N, detail::scalar Number>
inline constexpr bool numbers_fit<spec<T, N...>, Number> = is_floating(dtype_of<T>) || std::is_integral_v<Number>;
template <detail::scalar Number, class T, extent... N>
inline constexpr bool numbers_fit<Number, spec<T, N...>> = is_floating(dtype_of<T>) || std::is_integral_v<Number>;
/// Each of two operands is an expression or a number.
template <class A, class B>
inline constexpr bool are_operands = (expression<A> || detail::scalar<A>)&&(expression<B> || detail::scalar<B>);
}  // namespace diagnose

namespace op {

/// The spec of an element-wise result: the broadcast shape, the element type of input `from`.
TAGMA_COLD constexpr const char* infer_elementwise(ir::infer_args& a, std::size_t from = 0) {
  const tensor_spec* const in = a.in.data();
  const std::size_t count = a.in.size();
  a.out = in[0];
  for (std::size_t i = 1; i < count; ++i) {
    if (a.out.dims == in[i].dims) continue;
    if (!broadcastable(a.out.dims, in[i].dims)) return "shapes do not broadcast";
    a.out.dims = broadcast(a.out.dims, in[i].dims);
  }
  a.out = {in[from].type, a.out.dims};
  return nullptr;
}

/// Base of the tags of element-wise operations whose result has the type of their first input.
struct elementwise {
  static constexpr ir::op_kind kind = ir::op_kind::elementwise;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return infer_elementwise(a); }
};

/// Base of the tags of element-wise operations that answer yes or no.
struct elementwise_predicate {
  static constexpr ir::op_kind kind = ir::op_kind::elementwise;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const char* problem = infer_elementwise(a);
    a.out = {dtype::boolean, a.out.dims};
    return problem;
  }
};

}  // namespace op

namespace detail {

/// The spec of a handle; a plain number is its own type.
template <class E>
struct operand_type {
  using type = E;
};
template <expression E>
struct operand_type<E> {
  using type = typename E::spec_type;
};
template <class E>
using operand = typename operand_type<E>::type;

/// The spec of the first handle among two operands.
template <class A, class B>
using common_spec = operand<std::conditional_t<expression<A>, A, B>>;

/// True if a node of two operands can be built.
template <class A, class B>
inline constexpr bool operands_agree =
    diagnose::are_operands<A, B>&& diagnose::same_element_type<operand<A>, operand<B>>&&
        diagnose::shapes_broadcast<operand<A>, operand<B>>&& diagnose::numbers_fit<operand<A>, operand<B>>;

template <class A, class B>
concept operands = (expression<A> && (expression<B> || scalar<B> || mistaken_operand<B>)) ||
                   (expression<B> && (scalar<A> || mistaken_operand<A>));

/// The node of a two-operand operation; either operand may be a plain number.
template <class Op, class Place, class A, class B>
[[nodiscard]] constexpr auto make_binary(const A& a, const B& b) {
  if constexpr (operands_agree<A, B>) {
    using T = typename common_element<A, B>::type;
    return make_node<Op, ir::attributes<0>{}, Place>(as_expression<T, Place, 0>(a), as_expression<T, Place, 1>(b));
  }
}

}  // namespace detail
}  // namespace tagma
