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

namespace diagnose {
/// An activation is called with an expression: a function or an object of a class, but neither initializer nor
/// expression.
template <class Activation>
inline constexpr bool is_activation = std::is_class_v<Activation> || std::is_function_v<Activation> ||
                                      std::is_function_v<std::remove_pointer_t<Activation>>;
template <initializer_kind Kind>
inline constexpr bool is_activation<static_initializer<Kind>> = false;
template <>
inline constexpr bool is_activation<carried_initializer> = false;
template <class Spec, class Id, bool Carries>
inline constexpr bool is_activation<expr<Spec, Id, Carries>> = false;
}  // namespace diagnose

namespace detail {
/// Takes what stands first among the arguments of a layer, or is meant to; as `meant_as_name`.
struct meant_as_input {
  template <class T>
    requires(expression<T> || std::is_convertible_v<const T&, std::string_view>)
  meant_as_input(const T&);
};
}  // namespace detail

/// What a layer gets behind its input.
#define TAGMA_HAS_ACTIVATION(T, Activation, Initial)                    \
  (::tagma::diagnose::is_activation<std::remove_const_t<Activation>> && \
   ::tagma::diagnose::is_initial_value<T, std::remove_const_t<Initial>>)
#define TAGMA_NEEDS_ACTIVATION(Who, T, Activation, Initial)                           \
  static_assert(::tagma::diagnose::is_activation<std::remove_const_t<Activation>>,    \
                "TAGMA-E177 " Who                                                     \
                ": behind the input stands an activation, such as tagma::relu; "      \
                "an initializer comes behind that");                                  \
  static_assert(::tagma::diagnose::is_initial_value<T, std::remove_const_t<Initial>>, \
                "TAGMA-E157 " Who                                                     \
                ": the kernel begins with an initializer, a number, or a tensor of its element type")

/// A fully connected layer: activation(x * kernel + bias), with variables "<Name>/kernel" and "<Name>/bias".
/// @tparam Units outputs of the layer
/// @param x [..., features], features static
/// @param activation called with the sum; `linear`, which is none, by default
/// @param initial initializer of the kernel, [features, Units], by default `glorot_uniform`; the bias begins with zeros
/// @return [..., Units]
/// Raises TAGMA-E002 for a negative number of units, TAGMA-E003 and E026 for an input of another shape, TAGMA-E157 and
/// E177 for what is no initializer or activation.
template <fixed_string Name, extent Units, class E, class Activation = decltype(linear),
          class Initial = decltype(glorot_uniform), class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto dense(const E& x, const Activation& activation = linear,
                                   const Initial& initial = glorot_uniform) {
  if constexpr (expression<E>) {
    TAGMA_NEEDS_NAME("dense", Name);
    static_assert(E::rank >= 2,
                  "TAGMA-E026 dense: needs a batch axis and a feature axis; use tagma::flatten or expand_dims");
    constexpr extent features = E::rank > 0 ? E::spec.dims[E::rank - 1] : 1;
    static_assert(features != dyn, "TAGMA-E003 dense: the number of features must be static");
    TAGMA_NEEDS_FLOATS(typename E::spec_type);
    static_assert(Units >= 0, "TAGMA-E002 dense: the number of units is static and not negative");
    using T = typename E::element_type;
    TAGMA_NEEDS_ACTIVATION("dense", T, Activation, Initial);
    if constexpr (E::rank >= 2 && features != dyn && Units >= 0 && TAGMA_HAS_ACTIVATION(T, Activation, Initial)) {
      const auto kernel = variable<Name / "kernel", T, features, Units>(initial);
      const auto bias = variable<Name / "bias", T, Units>(zeros);
      const auto product = matmul<false, false, E, decltype(kernel), detail::part<Place, 0>>(x, kernel);
      return activation(detail::make_binary<op::add, detail::part<Place, 1>>(product, bias));
    }
  } else {
    TAGMA_REFUSES_OPERAND("dense", E);
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Units, class... Rest>
auto dense(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("dense", "<\"name\", 10>(x)", Rest...);
}

}  // namespace tagma
