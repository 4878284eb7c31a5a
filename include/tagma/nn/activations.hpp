// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Activations composed of elementary functions: one fused loop each. `tanh`, `sigmoid`, `softplus` and `relu` are
/// operations of their own, in expr/op/math.hpp.

#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/math.hpp"

namespace tagma {

namespace detail {

/// expm1(min(x, 0)): what the exponential units add below zero. Bounded above, so that the gradient of the branch that
/// is not taken is finite.
template <class Place, class E>
[[nodiscard]] constexpr auto negative_part(const E& e) {
  return step<op::expm1, Place, 1>(
      step<op::minimum, Place, 0>(e, make_constant<typename E::element_type, bits_of(0)>()));
}

template <class Place, class E, class A>
[[nodiscard]] constexpr auto leaky(const E& e, const A& alpha) {
  const auto zero = make_constant<typename E::element_type, bits_of(0)>();
  const auto positive = step<op::greater, Place, 0>(e, zero);
  return step<op::select, Place, 2>(positive, e, step<op::multiply, Place, 1>(e, alpha));
}

/// Stands for the slope that TensorFlow gives `leaky_relu` by default.
struct default_slope {};

}  // namespace detail

/// Activations, element by element. Raise TAGMA-E014 for an element type that is not floating.
/// @{

/// x where it is positive, else exp(x) - 1. Clevert, Unterthiner, Hochreiter 2015, with alpha = 1.
inline constexpr auto elu = []<expression E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  using S = typename E::spec_type;
  TAGMA_NEEDS_FLOATS(S);
  if constexpr (diagnose::is_floating_point<S>)
    return detail::step<op::add, Place, 3>(detail::step<op::relu, Place, 2>(e), detail::negative_part<Place>(e));
};

/// scale * (x where it is positive, else alpha * (exp(x) - 1)), with the numbers that keep mean 0 and variance 1 from
/// layer to layer. Klambauer et al. 2017.
inline constexpr auto selu = []<expression E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  using T = typename E::element_type;
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>) {
    const auto alpha = detail::make_constant<T, detail::bits_of(1.6732632423543772848170429916717)>();
    const auto scale = detail::make_constant<T, detail::bits_of(1.0507009873554804934193349852946)>();
    const auto below = detail::step<op::multiply, Place, 2>(alpha, detail::negative_part<Place>(e));
    const auto both = detail::step<op::add, Place, 4>(detail::step<op::relu, Place, 3>(e), below);
    return detail::step<op::multiply, Place, 5>(scale, both);
  }
};

/// x * Phi(x), where Phi is the normal distribution function: x / 2 * (1 + erf(x / sqrt(2))).
/// Hendrycks and Gimpel 2016.
inline constexpr auto gelu = []<expression E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  using T = typename E::element_type;
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>) {
    const auto root = detail::make_constant<T, detail::bits_of(0.70710678118654752440)>();
    const auto bell = detail::step<op::erf, Place, 1>(detail::step<op::multiply, Place, 0>(e, root));
    const auto twice = detail::step<op::add, Place, 2>(bell, detail::make_constant<T, detail::bits_of(1)>());
    const auto half = detail::step<op::multiply, Place, 3>(e, detail::make_constant<T, detail::bits_of(0.5)>());
    return detail::step<op::multiply, Place, 4>(half, twice);
  }
};

/// x * sigmoid(x). Elfwing, Uchibe, Doya 2017.
inline constexpr auto silu = []<expression E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>)
    return detail::step<op::multiply, Place, 1>(e, detail::step<op::sigmoid, Place, 0>(e));
};
/// The name that Ramachandran, Zoph and Le 2017 gave `silu`.
inline constexpr const auto& swish = silu;

/// min(max(x, 0), 6). Krizhevsky 2010.
inline constexpr auto relu6 = []<expression E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  using T = typename E::element_type;
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>)
    return detail::step<op::minimum, Place, 1>(detail::step<op::relu, Place, 0>(e),
                                               detail::make_constant<T, detail::bits_of(6)>());
};

/// The sigmoid as three straight lines: x / 5 + 1 / 2, kept between 0 and 1. Keras 2.
inline constexpr auto hard_sigmoid = []<expression E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  using T = typename E::element_type;
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>) {
    const auto slope = detail::step<op::multiply, Place, 0>(e, detail::make_constant<T, detail::bits_of(0.2)>());
    const auto line = detail::step<op::add, Place, 1>(slope, detail::make_constant<T, detail::bits_of(0.5)>());
    const auto above = detail::step<op::maximum, Place, 2>(line, detail::make_constant<T, detail::bits_of(0)>());
    return detail::step<op::minimum, Place, 3>(above, detail::make_constant<T, detail::bits_of(1)>());
  }
};

/// x / (1 + |x|).
inline constexpr auto softsign = []<expression E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  using T = typename E::element_type;
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>) {
    const auto size = detail::step<op::abs, Place, 0>(e);
    const auto below = detail::step<op::add, Place, 1>(size, detail::make_constant<T, detail::bits_of(1)>());
    return detail::step<op::divide, Place, 2>(e, below);
  }
};

/// x where it is positive, else alpha * x. Maas, Hannun, Ng 2013.
/// @param alpha a number, by default TensorFlow's 0.2
inline constexpr auto leaky_relu = []<expression E, class A = detail::default_slope, class Place = TAGMA_FRESH_TYPE(E)>(
    const E& e, const A& alpha = {}) {
  using T = typename E::element_type;
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (diagnose::is_floating_point<typename E::spec_type>) {
    if constexpr (std::is_same_v<A, detail::default_slope>)
      return detail::leaky<Place>(e, detail::make_constant<T, detail::bits_of(0.2)>());
    else
      return detail::leaky<Place>(e, detail::as_expression<T, detail::part<Place, 3>, 0>(alpha));
  }
};
/// @}

}  // namespace tagma
