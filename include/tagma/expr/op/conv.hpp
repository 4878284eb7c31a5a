// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions over height and width, as defined by TensorFlow: images are [batch, height, width, channels], filters
/// [height, width, channels, filters], and a filter is not flipped.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/window.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

/// How a filter moves over an image.
struct conv_options {
  window stride = 1;  ///< steps between positions
  window_padding padding = valid_padding;
  window dilation = 1;  ///< distance of neighbouring filter elements in the image
  int groups = 1;       ///< channels and filters fall into as many groups that do not see each other
};

namespace op {

/// Attributes 0 and 1 are the steps and the padding of the window, attribute 2 the number of groups.
struct convolution {
  static constexpr ir::op_kind kind = ir::op_kind::compute;

  static constexpr window_plane plane(ir::attribute_list attributes, const shape& filter) {
    return {attributes, filter[0], filter[1]};
  }
  /// Images, if they are an operand, and the filter; attributes 0 to 2.
  static constexpr void takes_window(auto& t, int images, int filter) {
    t.rule("TAGMA-E120"), t.axes(filter, 4, 4);
    if (images >= 0) t.axes(images, 4, 4);
    t.rule("TAGMA-E122"), window_plane::take(t);
    const extent groups = t.attribute("groups", 1, INT32_MAX);
    const shape f = t.in(filter).dims;
    t.rule("TAGMA-E121"), t.needs(f[3] == dyn || f[3] % groups == 0, "the filters do not divide into groups");
    if (images >= 0)
      t.needs(f[2] == dyn || compatible(t.in(images).dims[3], bounded_product(f[2], groups)),
              "the filter has another number of channels");
    t.rule("TAGMA-E123"), t.needs(!t.fine() || (f[0] != 0 && f[1] != 0), "the filter has no elements");
  }
  /// The shape of the output, from images and filter; a sentence if they do not fit.
  TAGMA_COLD static constexpr const char* infer_output(ir::infer_args& a, const shape& x, const shape& filter,
                                                       shape& out) {
    if (x.rank != 4 || filter.rank != 4) return "images and filter need four axes";
    const extent groups = a.attributes[2];
    if (filter[2] != dyn && !compatible(x[3], bounded_product(filter[2], groups)))
      return "the filter has another number of channels";
    if (filter[3] != dyn && filter[3] % groups != 0) return "the filters do not divide into groups";
    const window_plane w = plane(a.attributes, filter);
    out = {x[0], w.rows.positions(x[1]), w.columns.positions(x[2]), filter[3]};
    return out[1] == 0 || out[2] == 0 ? "the filter is larger than the padded image" : nullptr;
  }
  /// Multiplications for an output of shape `y`.
  static constexpr double products(const shape& y, const shape& filter) {
    return static_cast<double>(y.elements()) * static_cast<double>(filter[0] * filter[1] * filter[2]);
  }
  TAGMA_COLD static constexpr double work(const ir::infer_args& a) { return products(a.out.dims, a.in[1].dims); }
  static constexpr auto options(const auto& g) { return ir::pack_attributes(g.attr(0), g.attr(1), g.attr(2)); }
};

/// The transposed convolution: inputs are the gradient of the output, the filter, and the images, of which only the
/// shape counts. Without images, attributes 3 and 4 are the height and width of the result; `dyn` derives them.
struct conv2d_input_gradient : convolution {
  static constexpr const char* name = "conv2d_input_gradient";
  static constexpr std::uint8_t shape_only = 0b100;

  static constexpr void takes(auto& t) {
    t.inputs(2, 3), t.float_at(0), t.all_alike(), takes_window(t, t.count() == 3 ? 2 : -1, 1);
    if (t.count() == 2) t.size("height", dyn), t.size("width", dyn);
    t.rule("TAGMA-E125"), t.axes(0, 4, 4);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const shape &dy = a.in[0].dims, &filter = a.in[1].dims;
    if (dy.rank != 4 || filter.rank != 4) return "images and filter need four axes";
    shape x;
    if (a.in.size() == 3) {
      x = a.in[2].dims;
    } else {
      const window_plane w = plane(a.attributes, filter);
      const extent height = a.attributes[3], width = a.attributes[4];
      x = {dy[0], height == dyn ? w.rows.covered(dy[1]) : height, width == dyn ? w.columns.covered(dy[2]) : width,
           filter[2] == dyn ? dyn : bounded_product(filter[2], a.attributes[2])};
      if ((x[1] < 1 && x[1] != dyn) || (x[2] < 1 && x[2] != dyn)) return "the result would be empty";
    }
    shape out;
    if (const char* problem = infer_output(a, x, filter, out)) return problem;
    if (!compatible(out, dy)) return "a convolution of the result would not have the shape of the input";
    a.out = {a.in[0].type, x};
    return nullptr;
  }
  TAGMA_COLD static constexpr double work(const ir::infer_args& a) { return products(a.in[0].dims, a.in[1].dims); }
  static constexpr void gradient(auto& g);
};

/// A convolution.
struct conv2d : convolution {
  static constexpr const char* name = "conv2d";

  static constexpr void takes(auto& t) { t.floats(2), takes_window(t, 0, 1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return infer_output(a, a.in[0].dims, a.in[1].dims, a.out.dims);
  }
  static constexpr void gradient(auto& g) { set_gradients(g, g.upstream); }
  static constexpr void set_gradients(auto& g, ir::node_id upstream);
};

/// Inputs are the images, the gradient of the output, and the filter, of which only the shape counts.
struct conv2d_filter_gradient : convolution {
  static constexpr const char* name = "conv2d_filter_gradient";
  static constexpr std::uint8_t shape_only = 0b100;

  static constexpr void takes(auto& t) { t.floats(3), takes_window(t, 0, 2); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    shape out;
    if (const char* problem = infer_output(a, a.in[0].dims, a.in[2].dims, out)) return problem;
    if (!compatible(out, a.in[1].dims)) return "the gradient has another shape than the output";
    a.out = {a.in[0].type, a.in[2].dims};
    return nullptr;
  }
  TAGMA_COLD static constexpr double work(const ir::infer_args& a) { return products(a.in[1].dims, a.in[2].dims); }
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit_with(conv2d_input_gradient{}, options(g), g.in(1), g.upstream, g.in(0)));
    g.set(1, g.emit_with(conv2d{}, options(g), g.in(0), g.upstream));
  }
};

constexpr void conv2d_input_gradient::gradient(auto& g) {
  g.set(0, g.emit_with(conv2d{}, options(g), g.upstream, g.in(1)));
  g.set(1, g.emit_with(conv2d_filter_gradient{}, options(g), g.upstream, g.in(0), g.in(1)));
}

constexpr void conv2d::set_gradients(auto& g, ir::node_id upstream) {
  g.set(0, g.emit_with(conv2d_input_gradient{}, options(g), upstream, g.in(1), g.in(0)));
  g.set(1, g.emit_with(conv2d_filter_gradient{}, options(g), g.in(0), upstream, g.in(1)));
}

/// A convolution, a bias for each filter, and the activation that attribute 3 says: 0 none, 1 relu, 2 relu6. In one
/// pass over the output.
struct conv2d_bias : convolution {
  static constexpr const char* name = "conv2d_bias";

  static constexpr void takes(auto& t) {
    t.floats(3), takes_window(t, 0, 1), t.attribute("activation", 0, 2), t.rule("TAGMA-E124"), t.axes(2, 1, 1);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    if (const char* problem = infer_output(a, a.in[0].dims, a.in[1].dims, a.out.dims)) return problem;
    return compatible(a.in[2].dims, a.out.dims.sub(3, 4)) ? nullptr : "the bias needs one element for each filter";
  }
  static constexpr void gradient(auto& g) {
    auto upstream = g.attr(3) != 0 ? g.emit(relu_gradient{}, g.upstream, g.self) : g.upstream;
    if (g.attr(3) == 2) upstream = g.emit(relu_gradient{}, upstream, g.emit(subtract{}, g.constant(6), g.self));
    conv2d::set_gradients(g, upstream);
    g.set(2, g.emit_with(sum{}, ir::pack_attributes(0b111, 0), upstream));
  }
};

}  // namespace op

namespace diagnose {
/// Steps are positive, paddings not negative.
template <conv_options Options>
inline constexpr bool conv_options_are_valid =
    window_options_are_valid<Options.stride, Options.dilation, Options.padding>&& Options.groups >= 1;
/// A filter is not empty along its height and width.
template <class Filter>
inline constexpr bool filter_has_elements = Filter::value.dims.rank != 4 ||
                                            (Filter::value.dims[0] != 0 && Filter::value.dims[1] != 0);
/// The channels of the images are those of the filter times the number of groups.
template <class X, class Filter, int Groups>
inline constexpr bool filter_fits_channels =
    (Filter::value.dims[2] == dyn || compatible(X::value.dims[3], bounded_product(Filter::value.dims[2], Groups))) &&
    (Filter::value.dims[3] == dyn || Filter::value.dims[3] % Groups == 0);
/// The filter has at least one position over the padded images.
template <class X, class Filter, conv_options Options>
inline constexpr bool filter_fits_image = [] {
  const ir::attribute attributes[] = {op::window_plane::pack_steps(Options.stride, Options.dilation),
                                      op::window_plane::pack_padding(Options.padding)};
  const auto w = op::convolution::plane(attributes, Filter::value.dims);
  return w.rows.positions(X::value.dims[1]) != 0 && w.columns.positions(X::value.dims[2]) != 0;
}();
/// A bias has one axis with an element for each filter.
template <class Filter, class Bias>
inline constexpr bool bias_fits_filter = Bias::value.dims.rank == 1 &&
                                         compatible(Bias::value.dims[0], Filter::value.dims[3]);
/// A convolution of the result with these options has the shape of the input.
template <class Dy, class Filter, conv_options Options, extent Height, extent Width>
inline constexpr bool transposes = [] {
  const ir::attribute attributes[] = {op::window_plane::pack_steps(Options.stride, Options.dilation),
                                      op::window_plane::pack_padding(Options.padding), Options.groups, Height, Width};
  const tensor_spec in[] = {Dy::value, Filter::value};
  ir::infer_args args{in, attributes, {}};
  return op::conv2d_input_gradient::infer(args) == nullptr;
}();
}  // namespace diagnose

namespace detail {

template <conv_options Options>
inline constexpr auto conv_attributes = ir::pack_attributes(op::window_plane::pack_steps(Options.stride,
                                                                                         Options.dilation),
                                                            op::window_plane::pack_padding(Options.padding),
                                                            Options.groups);

/// True if images and filter are what their names say, and the options possible.
template <class X, class Filter, conv_options Options>
inline constexpr bool is_filter = diagnose::same_element_type<X, Filter>&& diagnose::is_image_batch<X>&&
    diagnose::is_image_batch<Filter>&& diagnose::conv_options_are_valid<Options>&& diagnose::is_floating_point<X>&&
        diagnose::filter_has_elements<Filter>;
/// True if, beyond that, they fit one another.
template <class X, class Filter, conv_options Options>
inline constexpr bool is_convolution = [] {
  if constexpr (is_filter<X, Filter, Options>) {
    if constexpr (diagnose::filter_fits_channels<X, Filter, Options.groups>)
      return diagnose::filter_fits_image<X, Filter, Options>;
  }
  return false;
}();

template <class Activation>
inline constexpr bool is_relu = std::is_same_v<std::remove_cvref_t<Activation>, std::remove_cv_t<decltype(relu)>>;

}  // namespace detail

/// A convolution: out[n, i, j, f] = sum of x[n, i * stride + a * dilation - top, j * stride + b * dilation - left, c] *
/// filter[a, b, c, f] over a, b, c.
/// @tparam Options stride (1 by default), padding (none, `valid_padding`), dilation (1), groups (1)
/// @param x images, [batch, height, width, channels], floating
/// @param filter [height, width, channels / groups, filters]
/// @return [batch, positions down, positions across, filters]
/// Raises TAGMA-E010 for two element types, TAGMA-E120 for a wrong rank, TAGMA-E121 for channels that do not fit,
/// TAGMA-E122 for impossible options, TAGMA-E123 if the filter is larger than the padded images.
template <conv_options Options = conv_options{}, expression X, expression Filter, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto conv2d(const X& x, const Filter& filter) {
  TAGMA_NEEDS_CONVOLUTION(typename X::spec_type, typename Filter::spec_type, Options);
  if constexpr (detail::is_convolution<typename X::spec_type, typename Filter::spec_type, Options>)
    return detail::make_node<op::conv2d, detail::conv_attributes<Options>, Place>(x, filter);
}

/// A convolution with a bias for each filter; relu is computed in the same pass, other activations after it.
/// @param bias [filters]
/// @param activation `relu`, or any function from expression to expression; none by default
/// Raises what `conv2d` without a bias raises, TAGMA-E010 and TAGMA-E124 for a bias of another element type or shape.
template <conv_options Options = conv_options{}, expression X, expression Filter, expression Bias,
          class Activation = std::nullptr_t, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto conv2d(const X& x, const Filter& filter, const Bias& bias,
                                    const Activation& activation = nullptr) {
  TAGMA_NEEDS_CONVOLUTION(typename X::spec_type, typename Filter::spec_type, Options);
  if constexpr (detail::is_convolution<typename X::spec_type, typename Filter::spec_type, Options>) {
    using f = typename Filter::spec_type;
    using b = typename Bias::spec_type;
    static_assert(diagnose::same_element_type<f, b>, "TAGMA-E010 conv2d: filter and bias need one element type");
    static_assert(diagnose::bias_fits_filter<f, b>, "TAGMA-E124 conv2d: the bias needs one element for each filter");
    if constexpr (diagnose::same_element_type<f, b> && diagnose::bias_fits_filter<f, b>) {
      constexpr auto plain = detail::conv_attributes<Options>;
      constexpr auto attributes =
          ir::pack_attributes(plain.values[0], plain.values[1], plain.values[2], detail::is_relu<Activation>);
      const auto result = detail::make_node<op::conv2d_bias, attributes, Place>(x, filter, bias);
      if constexpr (detail::is_relu<Activation> || std::is_null_pointer_v<Activation>)
        return result;
      else
        return activation(result);
    }
  }
}

/// The transpose of a convolution, which is also called deconvolution: what `conv2d` with the same options and filter
/// does to images, done backwards.
/// @tparam Options those of the convolution that is transposed
/// @tparam Height,Width of the result; by default stride times the input for `same` padding, else the least that fits
/// @param y [batch, height, width, filters], floating
/// @param filter [height, width, channels / groups, filters]
/// @return [batch, Height, Width, channels]
/// Raises TAGMA-E010, TAGMA-E120 and TAGMA-E122 as `conv2d`, TAGMA-E125 if such a result does not lead back to the
/// input.
template <conv_options Options = conv_options{}, extent Height = dyn, extent Width = dyn, expression Y,
          expression Filter, class Place = TAGMA_FRESH_TYPE(Y)>
[[nodiscard]] constexpr auto conv2d_transpose(const Y& y, const Filter& filter) {
  using u = typename Y::spec_type;
  using f = typename Filter::spec_type;
  TAGMA_NEEDS_FILTER(u, f, Options);
  if constexpr (detail::is_filter<u, f, Options>) {
    static_assert(diagnose::transposes<u, f, Options, Height, Width>,
                  "TAGMA-E125 conv2d_transpose: a convolution of the result would not have the shape of the input");
    if constexpr (diagnose::transposes<u, f, Options, Height, Width>) {
      constexpr auto plain = detail::conv_attributes<Options>;
      constexpr auto attributes = ir::pack_attributes(plain.values[0], plain.values[1], plain.values[2], Height, Width);
      return detail::make_node<op::conv2d_input_gradient, attributes, Place>(y, filter);
    }
  }
}

}  // namespace tagma
