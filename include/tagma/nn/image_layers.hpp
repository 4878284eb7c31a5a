// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions along time and channel by channel, and images made larger.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/positions.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/conv_layers.hpp"
#include "tagma/nn/layers.hpp"

namespace tagma {

/// How a filter moves along a sequence.
struct conv1d_options {
  int stride = 1;
  bool same = false;    ///< zeros around the sequence, so that it has ceil(time / stride) positions, as `same_padding`
  bool causal = false;  ///< zeros before the sequence, so that no position sees what comes after it
  int dilation = 1;     ///< distance of neighbouring filter elements
  int groups = 1;       ///< channels and filters fall into as many groups that do not see each other
};

namespace diagnose {
/// Sequences have the axes [batch, time, channels], with static channels.
template <class X>
inline constexpr bool is_channel_sequence = X::value.dims.rank == 3 && X::value.dims[2] >= 1;
/// Images of which height, width and channels are static.
template <class X>
inline constexpr bool has_static_image =
    X::value.dims.rank == 4 && X::value.dims[1] >= 1 && X::value.dims[2] >= 1 && X::value.dims[3] >= 1;
}  // namespace diagnose

namespace op {

// One node a statement: the order of operands in a call is the compiler's, and the fingerprint would depend on it.

/// Each pixel as a square of equal ones. Attribute: its side.
struct upsample2d : composition<3> {
  static constexpr const char* name = "upsample2d";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape& x = a.in[0].dims;
    a.out = {a.in[0].type, {x[0], x[1] * a.attributes[0], x[2] * a.attributes[0], x[3]}};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const shape x = e.in_spec(0).dims;
    const extent f = e.attr(0);
    const ir::node_id apart = e.emit_with(reshape{}, ir::pack_attributes(x[0], x[1], 1, x[2], 1, x[3]), e.in(0));
    const ir::node_id wide = e.emit_with(tile{}, ir::pack_attributes(1, 1, f, 1, f, 1), apart);
    e.result = e.emit_with(reshape{}, ir::pack_attributes(x[0], x[1] * f, x[2] * f, x[3]), wide);
  }
};

/// Pixels between pixels. Attributes: height and width of the result.
struct resize_bilinear : composition<36> {
  static constexpr const char* name = "resize_bilinear";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape& x = a.in[0].dims;
    a.out = {a.in[0].type, {x[0], a.attributes[0], a.attributes[1], x[3]}};
    return nullptr;
  }
  /// [to, from]: the share of each pixel in each of the result, max(0, 1 - |at - pixel|), where `at` is the middle of
  /// the new pixel, kept within the old ones.
  static constexpr ir::node_id shares(auto& e, extent from, extent to) {
    const dtype type = e.in_spec(0).type, wide = type == dtype::float64 ? type : dtype::float32;
    const auto number = [&e, wide](double value) { return ir::emit_constant(e.g, wide, value); };
    const double ratio = static_cast<double>(from) / static_cast<double>(to);
    const ir::node_id scale = number(ratio), shift = number(ratio / 2 - 0.5), zero = number(0), one = number(1);
    const ir::node_id end = number(static_cast<double>(from - 1));
    const ir::node_id scaled = e.emit(multiply{}, positions::below(e, to, wide), scale);
    const ir::node_id middle = e.emit(add{}, scaled, shift);
    const ir::node_id above = e.emit(maximum{}, middle, zero);
    const ir::node_id at = e.emit(minimum{}, above, end);
    const ir::node_id column = e.emit_with(expand_dims{}, ir::pack_attributes(0b10), at);
    const ir::node_id away = e.emit(abs{}, e.emit(subtract{}, column, positions::below(e, from, wide)));
    const ir::node_id share = e.emit(relu{}, e.emit(subtract{}, one, away));
    return e.emit_with(cast{}, ir::pack_attributes(type), share);
  }
  static constexpr void expand(auto& e) {
    const shape x = e.in_spec(0).dims;
    const extent height = e.attr(0), width = e.attr(1);
    const ir::node_id rows = e.emit_with(reshape{}, ir::pack_attributes(x[0], x[1], x[2] * x[3]), e.in(0));
    const ir::node_id down = shares(e, x[1], height);
    const ir::node_id tall = e.emit_with(matmul{}, ir::pack_attributes(false, false), down, rows);
    const extent lines = x[0] == dyn ? dyn : x[0] * height;
    const ir::node_id columns = e.emit_with(reshape{}, ir::pack_attributes(lines, x[2], x[3]), tall);
    const ir::node_id across = shares(e, x[2], width);
    const ir::node_id both = e.emit_with(matmul{}, ir::pack_attributes(false, false), across, columns);
    e.result = e.emit_with(reshape{}, ir::pack_attributes(x[0], height, width, x[3]), both);
  }
};

}  // namespace op

namespace detail {
/// The options of a convolution over images of height 1.
template <conv1d_options Options, int Kernel>
inline constexpr conv_options options_of_line = [] {
  conv_options o;
  o.stride = window(1, Options.stride);
  o.dilation = window(1, Options.dilation);
  o.groups = Options.groups;
  if (Options.causal) o.padding.left = (Kernel - 1) * Options.dilation;
  if (Options.same && !Options.causal) o.padding = same_padding;
  return o;
}();
}  // namespace detail

/// A convolution along time: activation(y + bias), y[b, t, f] = sum over k and c of x[b, t * stride + k * dilation -
/// before, c] * kernel[k, c, f], with variables "<Name>/kernel" [Kernel, channels / groups, Filters] and "<Name>/bias"
/// [Filters]. `conv1d<"conv", 32, 3>(x, tagma::relu)`
/// @tparam Options stride 1, no padding, dilation 1, one group; `same` and `causal` put zeros around or before the
///                 sequence
/// @param x [batch, time, channels], floating, channels static
/// @param initial initializer of the kernel
/// @return [batch, positions, Filters]
/// Raises TAGMA-E145 for another shape, TAGMA-E121 if the groups do not divide channels and filters, TAGMA-E123 for a
/// kernel of no steps, and what the operation `conv2d` raises.
template <fixed_string Name, extent Filters, int Kernel, conv1d_options Options = conv1d_options{}, expression X,
          class Activation = std::remove_const_t<decltype(linear)>,
          class Initial = std::remove_const_t<decltype(glorot_uniform)>, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto conv1d(const X& x, const Activation& activation = linear,
                                    const Initial& initial = glorot_uniform) {
  using s = typename X::spec_type;
  TAGMA_NEEDS_NAME("conv1d", Name);
  static_assert(diagnose::is_channel_sequence<s>,
                "TAGMA-E145 conv1d: needs an input of shape [batch, time, channels] with static channels");
  if constexpr (diagnose::is_channel_sequence<s>) {
    static_assert(diagnose::groups_divide<s, Filters, Options.groups>,
                  "TAGMA-E121 conv1d: the groups must divide channels and filters");
    static_assert(Kernel >= 1, "TAGMA-E123 conv1d: the filter has no elements");
    if constexpr (diagnose::groups_divide<s, Filters, Options.groups> && Kernel >= 1) {
      using T = typename X::element_type;
      constexpr extent channels = X::spec.dims[2] / Options.groups;
      const auto kernel = variable<Name / "kernel", T, Kernel, channels, Filters>(initial);
      const auto bias = variable<Name / "bias", T, Filters>(zeros);
      const auto lines = detail::make_node<op::expand_dims, ir::pack_attributes(0b10), detail::part<Place, 0>>(x);
      const auto filter = detail::make_node<op::expand_dims, ir::pack_attributes(0b1), detail::part<Place, 1>>(kernel);
      const auto y = conv2d<detail::options_of_line<Options, Kernel>>(lines, filter, bias, activation);
      return detail::make_node<op::squeeze, ir::pack_attributes(0b10), detail::part<Place, 2>>(y);
    }
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto conv1d(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("conv1d", "<\"name\", 32, 3>(x), for 32 filters of 3 steps", Rest...);
}

/// A convolution of each channel by itself: activation(y + bias), with variables "<Name>/kernel" [height, width, 1,
/// channels * Multiplier] and "<Name>/bias" [channels * Multiplier]: `conv2d` with as many groups as channels.
/// `depthwise_conv2d<"depthwise", 3>(x)`
/// @tparam Kernel height and width of the filters
/// @tparam Multiplier filters of each channel
/// @tparam Options stride, padding (none by default), dilation; its groups do not count
/// @param x images, [batch, height, width, channels], channels static
/// @param initial initializer of the kernel
/// @return [batch, positions down, positions across, channels * Multiplier]; the filters of a channel are neighbours
/// Raises TAGMA-E120 for what are no images, TAGMA-E003 for dynamic channels, and what the operation `conv2d` raises.
template <fixed_string Name, window Kernel, extent Multiplier = 1, conv_options Options = conv_options{}, expression X,
          class Activation = std::remove_const_t<decltype(linear)>,
          class Initial = std::remove_const_t<decltype(glorot_uniform)>, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto depthwise_conv2d(const X& x, const Activation& activation = linear,
                                              const Initial& initial = glorot_uniform) {
  using s = typename X::spec_type;
  static_assert(diagnose::is_image_batch<s>,
                "TAGMA-E120 depthwise_conv2d: images need the axes [batch, height, width, channels]");
  if constexpr (diagnose::is_image_batch<s>) {
    static_assert(diagnose::channels_are_static<s>,
                  "TAGMA-E003 depthwise_conv2d: the number of channels must be static");
    if constexpr (diagnose::channels_are_static<s>) {
      constexpr extent channels = X::spec.dims[3];
      constexpr conv_options options{Options.stride, Options.padding, Options.dilation, static_cast<int>(channels)};
      return conv2d<Name, channels * Multiplier, Kernel, options, X, Activation, Initial, Place>(x, activation,
                                                                                                 initial);
    }
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto depthwise_conv2d(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("depthwise_conv2d", "<\"name\", 3>(x), for filters of 3 x 3", Rest...);
}

/// Images made larger: each pixel becomes `Factor` x `Factor` equal ones.
/// @param x [batch, height, width, channels], all but the batch static
/// @return [batch, height * Factor, width * Factor, channels]
/// Raises TAGMA-E120 for what are no images, or have extents that vary, TAGMA-E122 for a factor below 1.
template <extent Factor, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto upsample2d(const X& x) {
  using s = typename X::spec_type;
  static_assert(Factor >= 1, "TAGMA-E122 upsample2d: the factor must be positive");
  static_assert(
      diagnose::has_static_image<s>,
      "TAGMA-E120 upsample2d: images need the axes [batch, height, width, channels], all but the first static");
  if constexpr (Factor >= 1 && diagnose::has_static_image<s>)
    return detail::make_node<op::upsample2d, ir::pack_attributes(Factor), Place>(x);
}

/// Images of another size, larger or smaller, by bilinear interpolation. Pixels are squares whose middles correspond
/// (`align_corners=False` in PyTorch, TensorFlow 2); what is made smaller is not smoothed first. Two products of
/// matrices.
/// @tparam Height,Width of the result
/// @param x [batch, height, width, channels], floating, all but the batch static
/// @return [batch, Height, Width, channels]
/// Raises TAGMA-E120 for what are no images, or have extents that vary, TAGMA-E122 for a result without pixels.
template <extent Height, extent Width, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto resize_bilinear(const X& x) {
  using s = typename X::spec_type;
  TAGMA_NEEDS_FLOATS(s);
  static_assert(Height >= 1 && Width >= 1, "TAGMA-E122 resize_bilinear: height and width must be positive");
  static_assert(diagnose::has_static_image<s>,
                "TAGMA-E120 resize_bilinear: images need the axes [batch, height, width, channels], all but the first "
                "static");
  if constexpr (Height >= 1 && Width >= 1 && diagnose::has_static_image<s> && diagnose::is_floating_point<s>)
    return detail::make_node<op::resize_bilinear, ir::pack_attributes(Height, Width), Place>(x);
}

}  // namespace tagma
