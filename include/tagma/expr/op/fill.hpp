// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tensors of one value in the shape of another tensor.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/view.hpp"

namespace tagma {

namespace diagnose {
/// Elements can be zero and one.
template <class Spec>
inline constexpr bool has_zero = Spec::value.type != dtype::string;
}  // namespace diagnose

namespace detail {
template <class Place, ir::attribute Bits, class E>
[[nodiscard]] constexpr auto make_filled(const E& e) {
  if constexpr (diagnose::has_zero<typename E::spec_type>)
    return make_node<op::broadcast_like, ir::attributes<0>{}, Place>(make_constant<typename E::element_type, Bits>(),
                                                                     e);
}
}  // namespace detail

/// Zeros, or ones, of the type and shape of `e`, whose elements are not read. Raises TAGMA-E112 for strings.
/// @{
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto zeros_like(const E& e) {
  static_assert(diagnose::has_zero<typename E::spec_type>, "TAGMA-E112 zeros_like: strings have no zero and no one");
  return detail::make_filled<Place, detail::bits_of(0)>(e);
}
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto ones_like(const E& e) {
  static_assert(diagnose::has_zero<typename E::spec_type>, "TAGMA-E112 ones_like: strings have no zero and no one");
  return detail::make_filled<Place, detail::bits_of(1)>(e);
}
/// @}

}  // namespace tagma
