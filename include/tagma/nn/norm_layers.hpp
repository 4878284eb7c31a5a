// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Normalisation by groups of channels and by the root of mean squares, with variables of their own.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/normalize.hpp"
#include "tagma/expr/op/positions.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/conv_layers.hpp"

namespace tagma {

namespace diagnose {
/// Groups divide the channels of an input [batch, ..., channels], of at most five axes; one extent may vary.
template <class X, extent Groups>
inline constexpr bool is_in_groups = [] {
  const shape& x = X::value.dims;
  if (x.rank < 2 || x.rank >= max_rank || Groups < 1 || x[x.rank - 1] < 1 || x[x.rank - 1] % Groups != 0) return false;
  int open = 0;
  for (int i = 0; i < x.rank; ++i) open += x[i] == dyn;
  return open <= 1;
}();
}  // namespace diagnose

namespace op {

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

/// Inputs: x, gamma, beta, epsilon, which is of the type of statistics. Attribute: groups.
struct normalize_groups : composition<16> {
  static constexpr const char* name = "normalize_groups";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const shape dims = e.in_spec(0).dims;
    const extent to[] = {e.attr(0), dims[dims.rank - 1] / e.attr(0)};
    const ir::node_id x = reshape_last(e, e.in(0), 1, to);
    // All axes but the batch and the groups.
    const ir::attribute axes = ((ir::attribute{1} << dims.rank) - 1 - (ir::attribute{1} << (dims.rank - 1)) - 1) |
                               (ir::attribute{1} << dims.rank);
    const ir::node_id both = e.emit_with(moments{}, ir::pack_attributes(axes, axes), x);
    const ir::node_id mean = e.g.emit_output(both, 0), power = e.g.emit_output(both, 1);
    const ir::node_id centred = e.emit(subtract{}, with_type(e, e.g.spec(mean).type, x), mean);
    const ir::node_id inverse = e.emit(rsqrt{}, e.emit(add{}, power, e.in(3)));
    const ir::node_id normalised = with_type(e, e.in_spec(0).type, e.emit(multiply{}, centred, inverse));
    const ir::node_id flat = e.emit(reshape{}, normalised, e.in(0));
    e.result = e.emit(add{}, e.emit(multiply{}, flat, e.in(1)), e.in(2));
  }
};

/// Inputs: x, gamma, epsilon, which is of the type of statistics.
struct normalize_root : composition<11> {
  static constexpr const char* name = "normalize_root";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const dtype type = e.in_spec(0).type;
    const ir::attribute last = ir::attribute{1} << (e.in_spec(0).dims.rank - 1);
    const ir::node_id x = with_type(e, statistics_type(type), e.in(0));
    const ir::node_id power = mean::of(e, e.emit(square{}, x), last, last);
    const ir::node_id inverse = e.emit(rsqrt{}, e.emit(add{}, power, e.in(2)));
    e.result = e.emit(multiply{}, with_type(e, type, e.emit(multiply{}, x, inverse)), e.in(1));
  }
};

}  // namespace op

/// Group normalisation, Wu and He 2018: the channels of each example fall into groups, and each group is normalised by
/// its own mean and variance, over all axes but the batch:
///
///     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta
///
/// with variables "<Name>/gamma" (ones) and "<Name>/beta" (zeros), [channels]. The variance is the mean of squared
/// deviations. `group_norm<"norm", 8>(x)`
/// @tparam Groups divide the channels; neighbouring channels are of one group
/// @param x [batch, ..., channels], floating, of rank 2 to 5; one extent may vary, not that of the channels
/// @param epsilon added to the variance, as in `layer_norm`; 1e-5 in PyTorch
/// @return the shape of `x`
/// Raises TAGMA-E297 for another shape, TAGMA-E014 if it is not floating.
template <fixed_string Name, extent Groups, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto group_norm(const X& x, double epsilon = 1e-3) {
  using s = typename X::spec_type;
  TAGMA_NEEDS_NAME("group_norm", Name);
  TAGMA_NEEDS_FLOATS(s);
  static_assert(diagnose::is_in_groups<s, Groups>,
                "TAGMA-E297 group_norm: needs an input [batch, ..., channels] of at most five axes, whose channels the "
                "groups divide, and of which one extent varies at most");
  if constexpr (diagnose::is_in_groups<s, Groups> && diagnose::is_floating_point<s>) {
    using T = typename X::element_type;
    constexpr extent channels = X::spec.dims[X::rank - 1];
    const auto gamma = variable<Name / "gamma", T, channels>(ones);
    const auto beta = variable<Name / "beta", T, channels>(zeros);
    const auto tiny = detail::named_literal<Name / "epsilon", detail::statistic_of<X>>(epsilon);
    return detail::make_node<op::normalize_groups, ir::pack_attributes(Groups), Place>(x, gamma, beta, tiny);
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto group_norm(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("group_norm", "<\"name\", 8>(x), for 8 groups", Rest...);
}

/// Normalisation by the root of the mean square of the features of each example, Zhang and Sennrich 2019:
///
///     y = x / sqrt(mean(x^2) + epsilon) * gamma
///
/// with the variable "<Name>/gamma" (ones), [features].
/// @param x [..., features], floating, features static
/// @param epsilon added to the mean square, 1e-6 as in Keras
/// @return the shape of `x`
/// Raises TAGMA-E003 for dynamic features, TAGMA-E014 if `x` is not floating.
template <fixed_string Name, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto rms_norm(const X& x, double epsilon = 1e-6) {
  using s = typename X::spec_type;
  TAGMA_NEEDS_NAME("rms_norm", Name);
  TAGMA_NEEDS_FLOATS(s);
  static_assert(diagnose::channels_are_static<s>,
                "TAGMA-E003 rms_norm: needs a batch axis and a static number of features");
  if constexpr (diagnose::channels_are_static<s> && diagnose::is_floating_point<s>) {
    using T = typename X::element_type;
    const auto gamma = variable<Name / "gamma", T, X::spec.dims[X::rank - 1]>(ones);
    const auto tiny = detail::named_literal<Name / "epsilon", detail::statistic_of<X>>(epsilon);
    return detail::make_node<op::normalize_root, ir::attributes<0>{}, Place>(x, gamma, tiny);
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto rms_norm(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("rms_norm", "<\"name\">(x)", Rest...);
}

}  // namespace tagma
