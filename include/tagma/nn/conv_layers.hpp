// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Layers of convolutional networks, which name their variables.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/expr/op/normalize.hpp"
#include "tagma/expr/op/pool.hpp"
#include "tagma/expr/phase.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/layers.hpp"

namespace tagma {

namespace diagnose {
/// A layer that slides has its options.
template <class Input>
inline constexpr bool are_conv_options = false;
/// The channels (the last axis) are known to the compiler.
template <class Spec>
inline constexpr bool channels_are_static =
    Spec::value.dims.rank >= 2 && Spec::value.dims[Spec::value.dims.rank - 1] != dyn;
/// The groups divide channels and filters.
template <class Spec, extent Filters, int Groups>
inline constexpr bool groups_divide =
    Groups >= 1 && Spec::value.dims[Spec::value.dims.rank - 1] % Groups == 0 && Filters >= 1 && Filters % Groups == 0;
}  // namespace diagnose

/// A convolutional layer: activation(conv2d(x, kernel) + bias), with variables "<Name>/kernel", [height, width,
/// channels / groups, Filters], and "<Name>/bias".
/// @tparam Filters outputs of the layer
/// @tparam Kernel height and width of the filters: `5`, or `window(3, 5)`
/// @tparam Options stride (1 by default), padding (none, `valid_padding`), dilation (1), groups (1)
/// @param x images, [batch, height, width, channels], channels static
/// @param activation called with the sum, none by default; `relu` is computed together with the convolution
/// @param initial initializer of the kernel, by default `glorot_uniform`; the bias begins with zeros
/// @return [batch, positions down, positions across, Filters]
/// Raises TAGMA-E120 for what are no images, TAGMA-E003 for dynamic channels, TAGMA-E121 if the groups do not divide
/// channels and filters, and what the operation `conv2d` raises.
template <fixed_string Name, extent Filters, window Kernel, conv_options Options = conv_options{}, class X,
          class Activation = decltype(linear), class Initial = decltype(glorot_uniform),
          class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto conv2d(const X& x, const Activation& activation = linear,
                                    const Initial& initial = glorot_uniform) {
  if constexpr (expression<X>) {
    using s = typename X::spec_type;
    using T = typename X::element_type;
    TAGMA_NEEDS_NAME("conv2d", Name);
    TAGMA_NEEDS_ACTIVATION("conv2d", T, Activation, Initial);
    static_assert(diagnose::is_image_batch<s>,
                  "TAGMA-E120 conv2d: images need the axes [batch, height, width, channels]");
    if constexpr (diagnose::is_image_batch<s> && TAGMA_HAS_ACTIVATION(T, Activation, Initial)) {
      static_assert(diagnose::channels_are_static<s>, "TAGMA-E003 conv2d: the number of channels must be static");
      static_assert(diagnose::groups_divide<s, Filters, Options.groups>,
                    "TAGMA-E121 conv2d: the groups must divide channels and filters");
      if constexpr (diagnose::channels_are_static<s> && diagnose::groups_divide<s, Filters, Options.groups>) {
        constexpr extent channels = X::spec.dims[3] / Options.groups;
        using filter = spec<T, Kernel.height, Kernel.width, channels, Filters>;
        TAGMA_NEEDS_CONVOLUTION(s, filter, Options);
        const auto kernel = variable<Name / "kernel", T, Kernel.height, Kernel.width, channels, Filters>(initial);
        const auto bias = variable<Name / "bias", T, Filters>(zeros);
        return conv2d<Options, X, decltype(kernel), decltype(bias), Activation, Place>(x, kernel, bias, activation);
      }
    }
  } else {
    TAGMA_REFUSES_OPERAND("conv2d", X);
  }
}
/// Without a name or a size, or with a name that is no template argument: TAGMA-E181.
/// @{
template <fixed_string Name, extent... Filters, class X, class... Rest>
  requires(sizeof...(Filters) < 2)
auto conv2d(const X&, const Rest&...) {
  TAGMA_NEEDS_SIZES("conv2d", "<\"name\", 32, 3>(x), for 32 filters of 3 x 3", X);
}
template <extent... Sizes, expression X, detail::scalar... Rest>
auto conv2d(const X&, Rest...) {
  TAGMA_NEEDS_SIZES("conv2d", "<\"name\", 32, 3>(x), for 32 filters of 3 x 3", X);
}
template <extent... Sizes, class... Rest>
auto conv2d(detail::meant_as_name, const Rest&...) {
  TAGMA_NEEDS_SIZES("conv2d", "<\"name\", 32, 3>(x), for 32 filters of 3 x 3", Rest...);
}
/// @}

/// With a padding or a stride in place of the options: TAGMA-E312.
template <fixed_string Name, extent Filters, window Kernel, window_padding NoOptions, class X, class... Rest>
auto conv2d(const X&, const Rest&...) {
  static_assert(diagnose::are_conv_options<X>,
                "TAGMA-E312 conv2d: behind the filter stand options: tagma::conv2d<\"name\", 32, 3, "
                "tagma::conv_options{.stride = 2, .padding = tagma::same_padding}>(x)");
}

/// Batch normalisation with variables "<Name>/gamma", "<Name>/beta", "<Name>/moving_mean" and "<Name>/moving_variance".
/// For training, x is normalised by the moments of the batch, and whoever trains gamma or beta (`minimize`,
/// `apply_gradients`, `accumulate`) moves the averages towards these moments in the same run:
///
///     average = momentum * average + (1 - momentum) * moment
///
/// For inference, x is normalised by the averages. Both share their variables. Gamma and the moving variance begin with
/// ones, beta and the moving mean with zeros. The moving variance is that of the batch, the mean of squared deviations.
/// The averages of 16-bit elements are floats, since a small share of the batch would be lost in them.
/// Who reads the averages in the same run reads them as they were before; see `update_averages` for moving them alone.
/// @param x [..., channels], floating, channels static, of rank 2 or more
/// @param phase `phase::training` or `phase::inference`
/// @param momentum share of the old average that stays, by default 0.99, as in Keras; PyTorch's momentum is 1 minus
/// this
/// @param epsilon added to the variance, by default 0.001, as in Keras; PyTorch's is 0.00001
/// @return the shape of `x`
/// Raises TAGMA-E003 for dynamic channels, TAGMA-E128 for a wrong rank, TAGMA-E179 without a phase.
template <fixed_string Name, expression X, class Phase, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto batch_norm(const X& x, Phase phase, double momentum = 0.99, double epsilon = 1e-3) {
  TAGMA_NEEDS_NAME("batch_norm", Name);
  TAGMA_NEEDS_PHASE("batch_norm", "<\"name\">(x, tagma::phase::training)", Phase);
  static_assert(X::rank >= 2, "TAGMA-E128 batch_norm: needs a batch axis and a channel axis");
  static_assert(X::rank < 2 || diagnose::channels_are_static<typename X::spec_type>,
                "TAGMA-E003 batch_norm: the number of channels must be static");
  static_cast<void>(phase);
  if constexpr (diagnose::channels_are_static<typename X::spec_type> && diagnose::is_phase<Phase>) {
    using T = typename X::element_type;
    constexpr extent channels = X::spec.dims[X::rank - 1];
    const auto gamma = variable<Name / "gamma", T, channels>(ones);
    const auto beta = variable<Name / "beta", T, channels>(zeros);
    using S = detail::statistic_of<X>;
    const auto mean = variable<Name / "moving_mean", S, channels>(zeros, not_trainable);
    const auto variance = variable<Name / "moving_variance", S, channels>(ones, not_trainable);
    const auto tiny = detail::named_literal<Name / "epsilon", S>(epsilon);
    if constexpr (std::is_same_v<Phase, inference_phase>) {
      return detail::make_node<op::normalize_by, ir::attributes<0>{}, Place>(x, gamma, beta, mean, variance, tiny);
    } else {
      const auto share = detail::named_literal<Name / "momentum", S>(1 - momentum);
      return detail::make_node<op::normalize_and_learn, detail::axes_of_channels<X::rank>, Place>(
          x, gamma, beta, tiny, mean, variance, share);
    }
  }
}

/// A phase is missing, or stands among the arguments of the template: TAGMA-E179. A name is missing: TAGMA-E181.
/// @{
template <fixed_string Name, class X>
auto batch_norm(const X&) {
  TAGMA_NEEDS_PHASE("batch_norm", "<\"name\">(x, tagma::phase::training)", X);
}
template <fixed_string Name, auto Phase, class X, class... Rest>
auto batch_norm(const X&, const Rest&...) {
  TAGMA_NEEDS_PHASE("batch_norm", "<\"name\">(x, tagma::phase::training)", X);
}
template <expression X, class... Phase>
  requires(sizeof...(Phase) < 2)
auto batch_norm(const X&, const Phase&...) {
  TAGMA_NEEDS_SIZES("batch_norm", "<\"name\">(x, tagma::phase::training)", X);
}
template <class... Rest>
auto batch_norm(detail::meant_as_name, const Rest&...) {
  TAGMA_NEEDS_SIZES("batch_norm", "<\"name\">(x, tagma::phase::training)", Rest...);
}
/// @}

/// Layer normalisation with variables "<Name>/gamma", which begins with ones, and "<Name>/beta", with zeros.
/// @param x [..., features], floating, features static
/// @param epsilon added to the variance, by default 0.001, as in Keras; PyTorch's is 0.00001
/// Raises TAGMA-E003 for dynamic features.
template <fixed_string Name, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto layer_norm(const X& x, double epsilon = 1e-3) {
  TAGMA_NEEDS_NAME("layer_norm", Name);
  static_assert(diagnose::channels_are_static<typename X::spec_type>,
                "TAGMA-E003 layer_norm: needs a batch axis and a static number of features");
  if constexpr (diagnose::channels_are_static<typename X::spec_type>) {
    using T = typename X::element_type;
    constexpr extent features = X::spec.dims[X::rank - 1];
    const auto gamma = variable<Name / "gamma", T, features>(ones);
    const auto beta = variable<Name / "beta", T, features>(zeros);
    const auto tiny = detail::named_literal<Name / "epsilon", detail::statistic_of<X>>(epsilon);
    return detail::make_node<op::normalize, detail::last_axis<X::rank>, Place>(x, gamma, beta, tiny);
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto layer_norm(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("layer_norm", "<\"name\">(x)", Rest...);
}

}  // namespace tagma

#undef TAGMA_HAS_ACTIVATION
#undef TAGMA_NEEDS_ACTIVATION
