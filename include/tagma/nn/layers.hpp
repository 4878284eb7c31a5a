// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Layers that name their variables.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/initializers.hpp"

namespace tagma {

/// No activation: the value itself.
inline constexpr auto linear = []<expression E>(const E& e) { return e; };

/// A fully connected layer: activation(x * kernel + bias), with variables "<Name>/kernel" and "<Name>/bias".
/// @tparam Units outputs of the layer
/// @param x [..., features], features static
/// @param activation called with the sum; `linear` if there is none
/// @param initial initializer of the kernel
/// @return [..., Units]
template <fixed_string Name, extent Units, expression E, class Activation = decltype(linear),
          class Initial = decltype(glorot_uniform), class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto dense(const E& x, const Activation& activation = linear,
                                   const Initial& initial = glorot_uniform) {
  TAGMA_NEEDS_NAME("dense", Name);
  static_assert(E::rank >= 2,
                "TAGMA-E026 dense: needs a batch axis and a feature axis; use tagma::flatten or expand_dims");
  constexpr extent features = E::rank > 0 ? E::spec.dims[E::rank - 1] : 1;
  static_assert(features != dyn, "TAGMA-E003 dense: the number of features must be static");
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  if constexpr (E::rank >= 2 && features != dyn) {
    using T = typename E::element_type;
    const auto kernel = variable<Name / "kernel", T, features, Units>(initial);
    const auto bias = variable<Name / "bias", T, Units>(zeros);
    const auto product = matmul<false, false, E, decltype(kernel), detail::part<Place, 0>>(x, kernel);
    return activation(detail::make_binary<op::add, detail::part<Place, 1>>(product, bias));
  }
}

}  // namespace tagma
