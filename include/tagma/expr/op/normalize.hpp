// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Normalisation: Ioffe and Szegedy 2015 over a batch, Ba et al. 2016 over the features of each example. Composed of
/// reductions and element-wise operations, from which the gradients follow.

#include "tagma/expr/op/reduce.hpp"

namespace tagma {

namespace diagnose {
/// A parameter has one axis, with an element for each channel (the last axis) of the input.
template <class X, class Parameter>
inline constexpr bool is_per_channel = X::value.dims.rank >= 1 && Parameter::value.dims.rank == 1 &&
                                       compatible(Parameter::value.dims[0], X::value.dims[X::value.dims.rank - 1]);
/// All of them have.
template <class X, class... Parameters>
inline constexpr bool are_per_channel = (true && ... && is_per_channel<X, Parameters>);
}  // namespace diagnose

namespace detail {

template <class X, class... Parameter>
inline constexpr bool is_normalization = (diagnose::is_floating_point<X> && ... &&
                                          (diagnose::same_element_type<X, Parameter> &&
                                           diagnose::is_per_channel<X, Parameter>));

template <bool Keep, class Place, int... Axes, class E>
[[nodiscard]] constexpr auto make_mean(const E& e, std::integer_sequence<int, Axes...>) {
  return make_mean<Keep, Place, Axes...>(e);
}

/// (x - mean) * (1 / sqrt(variance + epsilon) * gamma) + beta, given x - mean.
template <class Place, class Centred, class Variance, class Gamma, class Beta>
[[nodiscard]] constexpr auto scale_and_shift(const Centred& centred, const Variance& variance, const Gamma& gamma,
                                             const Beta& beta, double epsilon) {
  const auto safe = make_binary<op::add, part<Place, 0>>(variance, epsilon);
  const auto inverse = make_node<op::rsqrt, ir::attributes<0>{}, part<Place, 1>>(safe);
  const auto scale = make_binary<op::multiply, part<Place, 2>>(inverse, gamma);
  const auto scaled = make_binary<op::multiply, part<Place, 3>>(centred, scale);
  return make_binary<op::add, part<Place, 4>>(scaled, beta);
}

}  // namespace detail

/// The input of a normalisation and its parameters, as specs.
#define TAGMA_NEEDS_CHANNELS(X, ...)                                                                         \
  static_assert(::tagma::diagnose::one_element_type<X, __VA_ARGS__>,                                         \
                "TAGMA-E010 normalisation: input and parameters need one element type");                     \
  static_assert(::tagma::diagnose::are_per_channel<X, __VA_ARGS__>,                                          \
                "TAGMA-E127 normalisation: each parameter needs one element for each channel of the input"); \
  TAGMA_NEEDS_FLOATS(X)

/// What `batch_norm` makes of a batch: the normalised values, and the moments of each channel, [channels].
template <expression Output, expression Mean, expression Variance>
struct batch_moments {
  Output output;
  Mean mean;
  Variance variance;
};

/// Normalises each channel by its mean and variance over the batch (and height and width): for training.
/// @param x [..., channels], floating, of rank 2 or more
/// @param gamma,beta [channels], scale and shift
/// @param epsilon added to the variance
/// @return `{output, mean, variance}`; the variance is the mean of squared deviations
/// Raises TAGMA-E127 if a parameter does not have one element for each channel.
template <expression X, expression Gamma, expression Beta, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto batch_norm(const X& x, const Gamma& gamma, const Beta& beta, double epsilon = 1e-3) {
  static_assert(X::rank >= 2, "TAGMA-E128 batch_norm: needs a batch axis and a channel axis");
  TAGMA_NEEDS_CHANNELS(typename X::spec_type, typename Gamma::spec_type, typename Beta::spec_type);
  if constexpr (X::rank >= 2 &&
                detail::is_normalization<typename X::spec_type, typename Gamma::spec_type, typename Beta::spec_type>) {
    constexpr auto axes = std::make_integer_sequence<int, X::rank - 1>{};
    const auto mean = detail::make_mean<false, detail::part<Place, 0>>(x, axes);
    const auto centred = detail::make_binary<op::subtract, detail::part<Place, 1>>(x, mean);
    const auto squared = detail::make_node<op::square, ir::attributes<0>{}, detail::part<Place, 2>>(centred);
    const auto variance = detail::make_mean<false, detail::part<Place, 3>>(squared, axes);
    const auto output = detail::scale_and_shift<detail::part<Place, 4>>(centred, variance, gamma, beta, epsilon);
    return batch_moments<std::remove_cv_t<decltype(output)>, std::remove_cv_t<decltype(mean)>,
                         std::remove_cv_t<decltype(variance)>>{output, mean, variance};
  }
}

/// Normalises each channel by a given mean and variance: for inference.
/// @param mean,variance [channels]
/// @return the shape of `x`
template <expression X, expression Gamma, expression Beta, expression Mean, expression Variance,
          class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto batch_norm(const X& x, const Gamma& gamma, const Beta& beta, const Mean& mean,
                                        const Variance& variance, double epsilon = 1e-3) {
  TAGMA_NEEDS_CHANNELS(typename X::spec_type, typename Gamma::spec_type, typename Beta::spec_type,
                       typename Mean::spec_type, typename Variance::spec_type);
  if constexpr (detail::is_normalization<typename X::spec_type, typename Gamma::spec_type, typename Beta::spec_type,
                                         typename Mean::spec_type, typename Variance::spec_type>) {
    const auto centred = detail::make_binary<op::subtract, detail::part<Place, 0>>(x, mean);
    return detail::scale_and_shift<detail::part<Place, 1>>(centred, variance, gamma, beta, epsilon);
  }
}

/// Normalises the last axis of each example by its own mean and variance.
/// @param x [..., features], floating
/// @param gamma,beta [features], scale and shift
/// @param epsilon added to the variance
/// @return the shape of `x`
/// Raises TAGMA-E127 if a parameter does not have one element for each feature.
template <expression X, expression Gamma, expression Beta, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto layer_norm(const X& x, const Gamma& gamma, const Beta& beta, double epsilon = 1e-3) {
  TAGMA_NEEDS_CHANNELS(typename X::spec_type, typename Gamma::spec_type, typename Beta::spec_type);
  if constexpr (detail::is_normalization<typename X::spec_type, typename Gamma::spec_type, typename Beta::spec_type>) {
    constexpr auto last = std::integer_sequence<int, X::rank - 1>{};
    const auto mean = detail::make_mean<true, detail::part<Place, 0>>(x, last);
    const auto centred = detail::make_binary<op::subtract, detail::part<Place, 1>>(x, mean);
    const auto squared = detail::make_node<op::square, ir::attributes<0>{}, detail::part<Place, 2>>(centred);
    const auto variance = detail::make_mean<true, detail::part<Place, 3>>(squared, last);
    return detail::scale_and_shift<detail::part<Place, 4>>(centred, variance, gamma, beta, epsilon);
  }
}

}  // namespace tagma

#undef TAGMA_NEEDS_CHANNELS
