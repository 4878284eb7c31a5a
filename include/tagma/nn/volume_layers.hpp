// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions of volumes: one over images, in which the slices that a filter covers are channels.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/slice.hpp"
#include "tagma/expr/op/transpose.hpp"
#include "tagma/expr/op/view.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/conv_layers.hpp"

namespace tagma {

/// A depth, a height and a width: of a filter, or of the steps it makes. One number stands for all.
struct volume {
  int depth = 1;
  int height = 1;
  int width = 1;

  constexpr volume() = default;
  constexpr volume(int all) : depth(all), height(all), width(all) {}
  constexpr volume(int slices, int rows, int columns) : depth(slices), height(rows), width(columns) {}
  friend constexpr bool operator==(const volume&, const volume&) = default;
};

/// How a filter moves through a volume.
struct conv3d_options {
  volume stride = 1;
  bool same = false;    ///< zeros around the volume, so that it has ceil(extent / stride) positions, as `same_padding`
  volume dilation = 1;  ///< distance of neighbouring filter elements
};

namespace diagnose {
/// Volumes have the axes [batch, depth, height, width, channels], all but the batch static.
template <class X>
inline constexpr bool is_volume_batch = [] {
  const shape& x = X::value.dims;
  if (x.rank != 5) return false;
  for (int i = 1; i < 5; ++i)
    if (x[i] < 1) return false;
  return true;
}();
/// There are filters, with elements.
template <extent Filters, volume Kernel>
inline constexpr bool has_volume_filters = Filters >= 1 && Kernel.depth >= 1 && Kernel.height >= 1 && Kernel.width >= 1;
/// A filter has between 1 and 64 slices, and fits into the depth of a volume.
template <class X, volume Kernel, conv3d_options Options>
inline constexpr bool fits_depth = Kernel.depth <= 64 && Options.stride.depth >= 1 && Options.dilation.depth >= 1 &&
                                   (Options.same || (Kernel.depth - 1) * Options.dilation.depth < X::value.dims[1]);
}  // namespace diagnose

namespace op {

/// Volumes as images, one for each position of a filter along the depth: its channels are those of the slices that the
/// filter covers. Attributes: slices of the filter, stride, dilation, zeros before the volume, positions.
struct volume_to_images : composition<24> {
  static constexpr const char* name = "volume_to_images";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape& x = a.in[0].dims;
    a.out = {a.in[0].type,
             {x[0] == dyn ? dyn : bounded_product(x[0], a.attributes[4]), x[2], x[3],
              bounded_product(x[4], a.attributes[0])}};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const shape x = e.in_spec(0).dims;
    const extent slices = e.attr(0), stride = e.attr(1), dilation = e.attr(2), before = e.attr(3), out = e.attr(4);
    const extent read = (slices - 1) * dilation + out * stride, known = before + x[1];
    const extent image = x[2] * x[3] * x[4];
    const ir::node_id padded =
        e.emit_with(pad{}, ir::pack_attributes(0, 0, before, read > known ? read - known : 0, 0, 0, 0, 0, 0, 0),
                    e.in(0), e.constant(0));
    scratch_array<ir::node_id, 8> parts(slices);
    for (extent k = 0; k < slices; ++k) {
      const extent first = k * dilation;
      ir::node_id part = e.emit_with(
          slice{}, ir::pack_attributes(0, to_end, first, first + out * stride, 0, to_end, 0, to_end, 0, to_end),
          padded);
      if (stride > 1) {  // the first of every `stride` slices
        part = e.emit_with(reshape{}, ir::pack_attributes(x[0], out, stride * image), part);
        part = e.emit_with(slice{}, ir::pack_attributes(0, to_end, 0, to_end, 0, image), part);
      }
      const extent images = x[0] == dyn ? dyn : x[0] * out;
      parts[k] = e.emit_with(reshape{}, ir::pack_attributes(images, x[2], x[3], x[4]), part);
    }
    e.result = slices == 1 ? parts[0] : e.emit_over(concat{}, parts.view(), ir::pack_attributes(3));
  }
};

/// The filter of such images, of one of volumes: [depth, height, width, channels, filters] becomes [height, width,
/// depth * channels, filters].
struct volume_filter : composition<2> {
  static constexpr const char* name = "volume_filter";
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape& x = a.in[0].dims;
    a.out = {a.in[0].type, {x[1], x[2], bounded_product(x[0], x[3]), x[4]}};
    return nullptr;
  }
  static constexpr void expand(auto& e) {
    const shape x = e.in_spec(0).dims;
    const ir::node_id turned = e.emit_with(transpose{}, ir::pack_attributes(1, 2, 0, 3, 4), e.in(0));
    e.result = e.emit_with(reshape{}, ir::pack_attributes(x[1], x[2], x[0] * x[3], x[4]), turned);
  }
};

}  // namespace op

namespace detail {

/// The positions of a filter along the depth.
template <extent Depth, volume Kernel, conv3d_options Options>
struct depth_positions {
  static constexpr extent reach = (Kernel.depth - 1) * Options.dilation.depth + 1;
  static constexpr extent count =
      Options.same ? (Depth - 1) / Options.stride.depth + 1 : (Depth - reach) / Options.stride.depth + 1;
  static constexpr extent missing = (count - 1) * Options.stride.depth + reach - Depth;
  static constexpr extent before = Options.same && missing > 0 ? missing / 2 : 0;
};
template <conv3d_options Options>
inline constexpr conv_options options_of_image = [] {
  conv_options o;
  o.stride = window(Options.stride.height, Options.stride.width);
  o.dilation = window(Options.dilation.height, Options.dilation.width);
  if (Options.same) o.padding = same_padding;
  return o;
}();

}  // namespace detail

/// A convolution of volumes: activation(y + bias), with variables "<Name>/kernel", [depth, height, width, channels,
/// Filters], and "<Name>/bias", [Filters]. `conv3d<"conv", 16, 3>(x, tagma::relu)`. It is a convolution of images that
/// have the channels of all slices which a filter covers, so it takes the memory of the input as many times.
/// @tparam Filters outputs of the layer
/// @tparam Kernel depth, height and width of the filters: `3`, or `volume(1, 3, 3)`; at most 64 slices
/// @tparam Options stride (1 by default), padding (none; `same` as TensorFlow), dilation (1)
/// @param x [batch, depth, height, width, channels], floating, all but the batch static
/// @param activation called with the sum, none by default
/// @param initial initializer of the kernel, by default `glorot_uniform`; the bias begins with zeros
/// @return [batch, positions in depth, down, across, Filters]
/// Raises TAGMA-E305 for another shape or a filter that does not fit into the depth, TAGMA-E123 without filters or for
/// filters without elements, and what the operation `conv2d` raises.
template <fixed_string Name, extent Filters, volume Kernel, conv3d_options Options = conv3d_options{}, expression X,
          class Activation = std::remove_const_t<decltype(linear)>,
          class Initial = std::remove_const_t<decltype(glorot_uniform)>, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto conv3d(const X& x, const Activation& activation = linear,
                                    const Initial& initial = glorot_uniform) {
  using s = typename X::spec_type;
  TAGMA_NEEDS_NAME("conv3d", Name);
  static_assert(diagnose::is_volume_batch<s>,
                "TAGMA-E305 conv3d: volumes need the axes [batch, depth, height, width, channels], all but the first "
                "static");
  if constexpr (diagnose::is_volume_batch<s>) {
    static_assert(diagnose::has_volume_filters<Filters, Kernel>,
                  "TAGMA-E123 conv3d: there are no filters, or they have no elements");
    static_assert(diagnose::fits_depth<s, Kernel, Options>,
                  "TAGMA-E305 conv3d: the filter needs 1 to 64 slices, and must fit into the depth of the volume");
    if constexpr (diagnose::has_volume_filters<Filters, Kernel> && diagnose::fits_depth<s, Kernel, Options>) {
      using T = typename X::element_type;
      constexpr shape dims = X::spec.dims;
      using along = detail::depth_positions<dims[1], Kernel, Options>;
      const auto kernel =
          variable<Name / "kernel", T, Kernel.depth, Kernel.height, Kernel.width, dims[4], Filters>(initial);
      const auto bias = variable<Name / "bias", T, Filters>(zeros);
      const auto images = detail::make_node<op::volume_to_images,
                                            ir::pack_attributes(Kernel.depth, Options.stride.depth,
                                                                Options.dilation.depth, along::before, along::count),
                                            detail::part<Place, 0>>(x);
      const auto filter = detail::make_node<op::volume_filter, ir::attributes<0>{}, detail::part<Place, 1>>(kernel);
      const auto y = conv2d<detail::options_of_image<Options>>(images, filter, bias, activation);
      constexpr shape flat = decltype(y)::spec.dims;
      return detail::make_node<op::reshape, ir::pack_attributes(dims[0], along::count, flat[1], flat[2], flat[3]),
                               detail::part<Place, 2>>(y);
    }
  }
}
/// Without a name, or with one that is no template argument: TAGMA-E181.
template <extent... Sizes, class... Rest>
auto conv3d(detail::meant_as_input, const Rest&...) {
  TAGMA_NEEDS_SIZES("conv3d", "<\"name\", 32, 3>(x), for 32 filters of 3 x 3 x 3", Rest...);
}

}  // namespace tagma
