// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Keeps values, mostly gradients, within bounds. Pascanu, Mikolov, Bengio 2013.

#include <tuple>

#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/reduce.hpp"

namespace tagma {

namespace diagnose {
/// Tensors that share a norm have one floating element type.
template <class First, class... More>
inline constexpr bool norm_has_one_type = (true && ... &&
                                           std::is_same_v<typename First::element_type, typename More::element_type>);
/// A bound is a number, or an expression of rank 0 and of the element type of what it bounds.
template <class Value, class Bound>
inline constexpr bool is_bound = true;
template <class Value, expression Bound>
inline constexpr bool is_bound<Value, Bound> =
    Bound::rank == 0 && std::is_same_v<typename Value::element_type, typename Bound::element_type>;
}  // namespace diagnose

namespace detail {

/// The sum of the squares of all elements of all tensors.
template <class Place, int Index, class E, class... More>
[[nodiscard]] constexpr auto sum_of_squares(const E& first, const More&... more) {
  const auto own = make_reduction<op::sum, false, part<Place, Index + 1>>(step<op::square, Place, Index>(first));
  if constexpr (sizeof...(More) == 0)
    return own;
  else
    return step<op::add, Place, Index + 2>(own, sum_of_squares<Place, Index + 3>(more...));
}

/// The root of `squares`, with gradient 0 instead of infinity at 0.
template <class Place, int Index, class E>
[[nodiscard]] constexpr auto safe_root(const E& squares) {
  using T = typename E::element_type;
  const auto positive = step<op::greater, Place, Index>(squares, make_constant<T, bits_of(0)>());
  const auto safe = step<op::select, Place, Index + 1>(positive, squares, make_constant<T, bits_of(1)>());
  return step<op::select, Place, Index + 3>(positive, step<op::sqrt, Place, Index + 2>(safe), squares);
}

template <class Bound, class First, class... E>
inline constexpr bool is_clip = diagnose::norm_has_one_type<First, E...>&& diagnose::is_bound<First, Bound>&&
    diagnose::is_floating_point<operand<First>>;
template <class First, class... E>
struct operands_of {
  using first = First;
};

template <class Place, class Bound, class Norm, class... E>
[[nodiscard]] constexpr auto scale_all(const Bound& bound, const Norm& norm, const E&... e) {
  const auto ratio = step<op::divide, Place, 1>(bound, step<op::maximum, Place, 0>(norm, bound));
  // 0 for a norm that is a number, else not a number: one infinite gradient must not look like many that vanish.
  const auto valid = step<op::subtract, Place, 2>(norm, norm);
  const auto scale = step<op::add, Place, 3>(ratio, valid);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return std::make_tuple(step<op::multiply, Place, 4 + I>(e, scale)...);
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(E))>{});
}

}  // namespace detail

/// Tensors that share a norm, and what bounds them.
#define TAGMA_NEEDS_NORM(...)                                                      \
  static_assert(::tagma::diagnose::norm_has_one_type<__VA_ARGS__>,                 \
                "TAGMA-E142 global_norm: all tensors need the same element type"); \
  TAGMA_NEEDS_FLOATS(detail::operand<typename detail::operands_of<__VA_ARGS__>::first>)
#define TAGMA_NEEDS_BOUND(Bound, ...)                                                                         \
  static_assert(::tagma::diagnose::is_bound<typename detail::operands_of<__VA_ARGS__>::first, Bound>,         \
                "TAGMA-E143 clip: the bound must be a number or a scalar of the element type of the tensor"); \
  TAGMA_NEEDS_NORM(__VA_ARGS__)

/// min(max(x, low), high), element by element. The gradient is 0 where x is outside.
/// @param low,high numbers, or expressions that broadcast to the shape of x
template <expression E, class Low, class High, class Place = TAGMA_FRESH_TYPE(E)>
  requires detail::operands<E, Low> && detail::operands<E, High>
[[nodiscard]] constexpr auto clip_by_value(const E& e, const Low& low, const High& high) {
  TAGMA_NEEDS_NUMBERS(typename E::spec_type);
  TAGMA_NEEDS_OPERANDS(E, Low);
  TAGMA_NEEDS_OPERANDS(E, High);
  if constexpr (detail::operands_agree<E, Low> && detail::operands_agree<E, High>) {
    const auto above = detail::make_binary<op::maximum, detail::part<Place, 0>>(e, low);
    return detail::make_binary<op::minimum, detail::part<Place, 1>>(above, high);
  }
}

/// The root of the sum of the squares of all elements of all tensors.
/// Raises TAGMA-E142 for different element types, TAGMA-E014 if they are not floating.
template <expression... E, class Place = TAGMA_FRESH_TYPE(E...)>
  requires(sizeof...(E) > 0)
[[nodiscard]] constexpr auto global_norm(const E&... e) {
  TAGMA_NEEDS_NORM(E...);
  if constexpr (detail::is_clip<float, E...>)
    return detail::safe_root<Place, 0>(detail::sum_of_squares<Place, 10>(e...));
}

/// x scaled down to the norm `bound` if its own is larger: x * bound / max(norm, bound).
/// @param bound a positive number, or a scalar expression
/// Raises TAGMA-E014, TAGMA-E143.
template <expression E, class Bound, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto clip_by_norm(const E& e, const Bound& bound) {
  TAGMA_NEEDS_BOUND(Bound, E);
  if constexpr (detail::is_clip<Bound, E>) {
    const auto limit = detail::as_expression<typename E::element_type, detail::part<Place, 3>, 0>(bound);
    const auto norm = detail::safe_root<Place, 10>(detail::sum_of_squares<Place, 20>(e));
    const auto larger = detail::step<op::maximum, Place, 0>(norm, limit);
    return detail::step<op::divide, Place, 2>(detail::step<op::multiply, Place, 1>(e, limit), larger);
  }
}

/// All tensors scaled by one factor, so that their global norm is at most `bound`. Where the norm is not finite all
/// results are not numbers, as in TensorFlow.
/// @return a std::tuple of expressions
/// Raises TAGMA-E014, TAGMA-E142, TAGMA-E143.
template <class Bound, expression... E, class Place = TAGMA_FRESH_TYPE(Bound)>
  requires(sizeof...(E) > 0)
[[nodiscard]] constexpr auto clip_by_global_norm(const Bound& bound, const E&... e) {
  TAGMA_NEEDS_BOUND(Bound, E...);
  if constexpr (detail::is_clip<Bound, E...>) {
    using T = typename std::tuple_element_t<0, std::tuple<E...>>::element_type;
    const auto limit = detail::as_expression<T, detail::part<Place, 0>, 0>(bound);
    const auto squares = detail::sum_of_squares<detail::part<Place, 2>, 0>(e...);
    const auto norm = detail::safe_root<detail::part<Place, 1>, 0>(squares);
    return detail::scale_all<detail::part<Place, 3>>(limit, norm, e...);
  }
}

}  // namespace tagma

#undef TAGMA_NEEDS_BOUND
#undef TAGMA_NEEDS_NORM
