// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Normalisation: Ioffe and Szegedy 2015 over a batch, Ba et al. 2016 over the features of each example. Compositions
/// of moments and element-wise operations, from which the gradients follow.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/moments.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/rules.hpp"

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

namespace op {

/// Attribute 0 of what follows is the mask of the axes that are averaged over, attribute 1 of those that stay as 1.
namespace normalization {

/// The operation whose results are the mean and the variance of input `i`.
constexpr ir::node_id moments_of(auto& e, int i = 0) {
  return e.emit_with(moments{}, ir::pack_attributes(e.attr(0), e.attr(1)), e.in(i));
}
/// (x - mean) * (1 / sqrt(variance + epsilon) * gamma) + beta, given x - mean. Elements of 16 bits are normalised as
/// floats, of which moments are, and scaled and shifted as what they are.
constexpr ir::node_id scale_and_shift(auto& e, ir::node_id centred, ir::node_id variance, ir::node_id gamma,
                                      ir::node_id beta, ir::node_id epsilon) {
  const ir::node_id inverse = e.emit(rsqrt{}, e.emit(add{}, variance, epsilon));
  const dtype type = e.g.spec(gamma).type;
  const ir::node_id scaled = e.g.spec(inverse).type == type
                                 ? e.emit(multiply{}, centred, e.emit(multiply{}, inverse, gamma))
                                 : e.emit(multiply{}, with_type(e, type, e.emit(multiply{}, centred, inverse)), gamma);
  return e.emit(add{}, scaled, beta);
}
/// Input 0, less the first of its moments.
constexpr ir::node_id centre(auto& e, ir::node_id both) {
  const ir::node_id mean = e.g.emit_output(both, 0);
  return e.emit(subtract{}, with_type(e, e.g.spec(mean).type, e.in(0)), mean);
}

}  // namespace normalization

/// The mean of squared deviations from the mean.
struct variance : composition<8> {
  static constexpr const char* name = "variance";
  static constexpr void takes(auto& t) { t.floats(1), reduction::takes_axes(t); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return reduction::infer(a); }
  static constexpr void expand(auto& e) {
    e.result = with_type(e, e.in_spec(0).type, e.g.emit_output(normalization::moments_of(e), 1));
  }
};

/// Inputs: x, gamma, beta, epsilon, which is of the type of statistics.
struct normalize : composition<13> {
  static constexpr const char* name = "normalize";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const ir::node_id both = normalization::moments_of(e);
    const ir::node_id centred = normalization::centre(e, both);
    e.result = normalization::scale_and_shift(e, centred, e.g.emit_output(both, 1), e.in(1), e.in(2), e.in(3));
  }
};

/// The same, of a layer that keeps moving averages: who trains it moves them towards the moments of the batch, a -= (a
/// - moment) * share. Inputs: x, gamma, beta, epsilon, the moving mean, the moving variance, the share of the batch;
/// the last four are of the type of statistics.
struct normalize_and_learn : composition<13> {
  static constexpr const char* name = "normalize_and_learn";
  static constexpr std::uint64_t parameters = 0b110;
  static constexpr int inputs = 7;  ///< for `learn`, behind which they stand once more, as they are read
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) { return normalize::infer(a); }
  static constexpr void expand(auto& e) { normalize::expand(e); }
  static constexpr void learn(auto& e) {
    const ir::node_id both = normalization::moments_of(e, inputs);
    const ir::node_id is_there = has_rows(e);
    const ir::node_id moved[] = {move(e, 4, e.g.emit_output(both, 0), is_there),
                                 move(e, 5, e.g.emit_output(both, 1), is_there)};
    e.result = e.g.emit_as(ir::rules<group>, {}, {}, {}, {moved});
  }

 private:
  /// Whether the batch has rows, without which its moments are no numbers: one over their number is one at most.
  /// `no_node` if the extents say so.
  static constexpr ir::node_id has_rows(auto& e) {
    if (fraction::elements(e.in_spec(0).dims, e.attr(0)) > 0) return ir::no_node;
    const ir::node_id share = e.emit_with(fraction{}, ir::pack_attributes(e.attr(0)), e.in(0));
    return e.emit(less_equal{}, share, e.constant(1));
  }
  /// Moves input `i`, which is read as it is behind what changed it before.
  static constexpr ir::node_id move(auto& e, int i, ir::node_id moment, ir::node_id is_there) {
    ir::node_id way = e.emit(subtract{}, e.in(inputs + i), moment);
    if (is_there != ir::no_node) {
      const ir::node_id zero = with_type(e, e.g.spec(way).type, e.constant(0));
      way = e.emit(select{}, is_there, way, zero);
    }
    return e.emit(assign_sub{}, e.in(i), e.emit(multiply{}, way, e.in(6)));
  }
};

/// The same by a given mean and variance. Inputs: x, gamma, beta, mean, variance, epsilon, which is of the type of
/// statistics. Of elements of 16 bits the factor of each channel is rounded, and not what is scaled, so that a
/// convolution may take it in.
struct normalize_by : composition<6> {
  static constexpr const char* name = "normalize_by";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const dtype type = e.in_spec(0).type, wide = statistics_type(type);
    const ir::node_id centred = e.emit(subtract{}, e.in(0), with_type(e, type, e.in(3)));
    const ir::node_id inverse = e.emit(rsqrt{}, e.emit(add{}, with_type(e, wide, e.in(4)), e.in(5)));
    const ir::node_id scale = with_type(e, type, e.emit(multiply{}, inverse, with_type(e, wide, e.in(1))));
    e.result = e.emit(add{}, e.emit(multiply{}, centred, scale), e.in(2));
  }
};

}  // namespace op

namespace detail {

template <class X, class... Parameter>
inline constexpr bool is_normalization = (diagnose::is_floating_point<X> && ... &&
                                          (diagnose::same_element_type<X, Parameter> &&
                                           diagnose::is_per_channel<X, Parameter>));

/// The type in which statistics of the elements of `X` are formed.
template <class X>
using statistic_of = element_of<op::statistics_type(X::spec.type)>;

/// All axes but the last, which is dropped; the last alone, which stays.
template <int Rank>
inline constexpr auto axes_of_channels = ir::pack_attributes((1 << (Rank - 1)) - 1, 0);
template <int Rank>
inline constexpr auto last_axis = ir::pack_attributes(1 << (Rank - 1), 1 << (Rank - 1));

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
/// Raises TAGMA-E127 if a parameter does not have one element for each channel, TAGMA-E128 for rank 0 or 1.
template <expression X, expression Gamma, expression Beta, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto batch_norm(const X& x, const Gamma& gamma, const Beta& beta, double epsilon = 1e-3) {
  static_assert(X::rank >= 2, "TAGMA-E128 batch_norm: needs a batch axis and a channel axis");
  TAGMA_NEEDS_CHANNELS(typename X::spec_type, typename Gamma::spec_type, typename Beta::spec_type);
  if constexpr (X::rank >= 2 &&
                detail::is_normalization<typename X::spec_type, typename Gamma::spec_type, typename Beta::spec_type>) {
    constexpr auto axes = detail::axes_of_channels<X::rank>;
    const auto tiny = detail::literal_at<detail::statistic_of<X>, detail::part<Place, 3>, 0>(epsilon);
    const auto [mean, variance] = detail::moments_like<detail::part<Place, 1>>(
        x, detail::make_nodes<op::moments, axes, detail::part<Place, 0>>(x));
    const auto output = detail::make_node<op::normalize, axes, detail::part<Place, 2>>(x, gamma, beta, tiny);
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
    const auto tiny = detail::literal_at<detail::statistic_of<X>, detail::part<Place, 0>, 0>(epsilon);
    return detail::make_node<op::normalize_by, ir::attributes<0>{}, detail::part<Place, 1>>(x, gamma, beta, mean,
                                                                                            variance, tiny);
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
    const auto tiny = detail::literal_at<detail::statistic_of<X>, detail::part<Place, 0>, 0>(epsilon);
    return detail::make_node<op::normalize, detail::last_axis<X::rank>, detail::part<Place, 1>>(x, gamma, beta, tiny);
  }
}

}  // namespace tagma

#undef TAGMA_NEEDS_CHANNELS
