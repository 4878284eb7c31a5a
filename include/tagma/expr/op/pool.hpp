// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Pooling over height and width: the largest element or the mean of each window, channel by channel.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/window.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

/// How a pooling window moves.
struct pool_options {
  window stride{0, 0};  ///< steps between positions; 0: as large as the window
  window_padding padding = valid_padding;
};

namespace op {

/// Attributes 0 and 1 are the steps and the padding of the window, attributes 2 and 3 its height and width.
struct pooling {
  static constexpr ir::op_kind kind = ir::op_kind::compute;

  static constexpr window_plane plane(ir::attribute_list attributes) {
    return {attributes, attributes[2], attributes[3]};
  }
  /// Input `images` has the shape of the images; attributes 0 to 3.
  static constexpr void takes_window(auto& t, int images) {
    t.rule("TAGMA-E120"), t.axes(images, 4, 4), t.rule("TAGMA-E126");
    const window_plane w = window_plane::take(t);
    const extent height = t.attribute("height", 1, INT32_MAX), width = t.attribute("width", 1, INT32_MAX);
    t.within("dilation down", w.rows.dilation, 1, 1), t.within("dilation across", w.columns.dilation, 1, 1);
    t.within("padding above", w.rows.before, 0, height - 1), t.within("padding below", w.rows.after, 0, height - 1);
    t.within("padding left", w.columns.before, 0, width - 1), t.within("padding right", w.columns.after, 0, width - 1);
    t.rule("TAGMA-E123");
  }
  TAGMA_COLD static constexpr const char* infer_output(ir::infer_args& a, const shape& x, shape& out) {
    if (x.rank != 4) return "images need four axes";
    // The paddings are smaller than the window, so that each one sees something of any other image.
    if (x[1] == 0 || x[2] == 0) return "the images have no elements for a window";
    const window_plane w = plane(a.attributes);
    out = {x[0], w.rows.positions(x[1]), w.columns.positions(x[2]), x[3]};
    return out[1] == 0 || out[2] == 0 ? "the window is larger than the padded image" : nullptr;
  }
  static constexpr void takes(auto& t) { t.floats(1), takes_window(t, 0); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return infer_output(a, a.in[0].dims, a.out.dims);
  }
  static constexpr auto options(const auto& g) {
    return ir::pack_attributes(g.attr(0), g.attr(1), g.attr(2), g.attr(3));
  }
};

struct max_pool_gradient;

/// Inputs are x, the maxima y, and a tensor of the shape of x: its elements at the places of the maxima.
struct max_pool_select : pooling {
  static constexpr const char* name = "max_pool_select";
  static constexpr void takes(auto& t) { t.floats(3), takes_window(t, 0); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    if (!compatible(a.in[0].dims, a.in[2].dims)) return "the tensor to select from needs the shape of the images";
    if (const char* problem = pooling::infer(a)) return problem;
    return compatible(a.out.dims, a.in[1].dims) ? nullptr : "the maxima have another shape than the output";
  }
  static constexpr void gradient(auto& g);
};

/// Inputs are x, the maxima y, and the gradient by y. The first of several equal maxima receives it.
struct max_pool_gradient : pooling {
  static constexpr const char* name = "max_pool_gradient";
  static constexpr void takes(auto& t) { t.floats(3), takes_window(t, 0); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    shape out;
    if (const char* problem = infer_output(a, a.in[0].dims, out)) return problem;
    if (!compatible(out, a.in[1].dims) || !compatible(out, a.in[2].dims))
      return "the gradient has another shape than the output";
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    g.set(2, g.emit_with(max_pool_select{}, options(g), g.in(0), g.in(1), g.upstream));
  }
};

constexpr void max_pool_select::gradient(auto& g) {
  g.set(2, g.emit_with(max_pool_gradient{}, options(g), g.in(0), g.in(1), g.upstream));
}

/// The largest element of each window; padding never wins.
struct max_pool : pooling {
  static constexpr const char* name = "max_pool";
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit_with(max_pool_gradient{}, options(g), g.in(0), g.self, g.upstream));
  }
};

struct average_pool_gradient;

/// The mean of each window; padding does not count.
struct average_pool : pooling {
  static constexpr const char* name = "average_pool";
  static constexpr void gradient(auto& g);
};

/// Inputs are the gradient of the means and the images, of which only the shape counts.
struct average_pool_gradient : pooling {
  static constexpr const char* name = "average_pool_gradient";
  static constexpr std::uint8_t shape_only = 0b10;
  static constexpr void takes(auto& t) { t.floats(2), takes_window(t, 1); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    shape out;
    if (const char* problem = infer_output(a, a.in[1].dims, out)) return problem;
    if (!compatible(out, a.in[0].dims)) return "the gradient has another shape than the output";
    a.out = {a.in[0].type, a.in[1].dims};
    return nullptr;
  }
  static constexpr void gradient(auto& g) { g.set(0, g.emit_with(average_pool{}, options(g), g.upstream)); }
};

constexpr void average_pool::gradient(auto& g) {
  g.set(0, g.emit_with(average_pool_gradient{}, options(g), g.upstream, g.in(0)));
}

}  // namespace op

namespace diagnose {
/// A window stands in angle brackets, since extents follow from it.
template <class... Argument>
inline constexpr bool has_window = false;
/// Windows are at least one element large, strides positive, and no window lies in the padding alone.
template <window Size, pool_options Options>
inline constexpr bool pool_options_are_valid =
    Size.height >= 1 && Size.width >= 1 &&
    window_options_are_valid<Options.stride, window(1), Options.padding>&& Options.padding.top <
        Size.height&& Options.padding.bottom < Size.height&& Options.padding.left < Size.width&& Options.padding.right <
        Size.width;
/// The window has at least one position over the padded images, which have elements.
template <class X, window Size, pool_options Options>
inline constexpr bool pool_window_fits = [] {
  const ir::attribute attributes[] = {op::window_plane::pack_steps(Options.stride, window(1)),
                                      op::window_plane::pack_padding(Options.padding), Size.height, Size.width};
  const auto w = op::pooling::plane(attributes);
  const extent rows = X::value.dims[1], columns = X::value.dims[2];
  return rows != 0 && columns != 0 && w.rows.positions(rows) != 0 && w.columns.positions(columns) != 0;
}();
}  // namespace diagnose

namespace detail {

/// The options with a stride of 0 replaced by the window.
template <window Size, pool_options Options>
inline constexpr pool_options pool_steps = [] {
  pool_options o = Options;
  if (o.stride == window(0, 0)) o.stride = Size;
  return o;
}();

template <class Op, window Size, pool_options Options, class Place, class X>
[[nodiscard]] constexpr auto make_pool(const X& x) {
  using s = typename X::spec_type;
  if constexpr (diagnose::is_image_batch<s> && diagnose::pool_options_are_valid<Size, Options> &&
                diagnose::is_floating_point<s>) {
    if constexpr (diagnose::pool_window_fits<s, Size, Options>)
      return make_node<Op,
                       ir::pack_attributes(op::window_plane::pack_steps(Options.stride, window(1)),
                                           op::window_plane::pack_padding(Options.padding), Size.height, Size.width),
                       Place>(x);
  }
}

}  // namespace detail

/// Images, and a window that slides over them.
#define TAGMA_NEEDS_IMAGES(Spec)                                                              \
  static_assert(::tagma::diagnose::is_image_batch<Spec>,                                      \
                "TAGMA-E120 pooling: images need the axes [batch, height, width, channels]"); \
  TAGMA_NEEDS_FLOATS(Spec)
#define TAGMA_NEEDS_WINDOW(Spec, Size, Options)                                                                      \
  TAGMA_NEEDS_IMAGES(Spec);                                                                                          \
  static_assert(::tagma::diagnose::pool_options_are_valid<Size, Options>,                                            \
                "TAGMA-E126 pooling: windows and strides must be positive, paddings smaller than the window");       \
  if constexpr (::tagma::diagnose::is_image_batch<Spec> && ::tagma::diagnose::pool_options_are_valid<Size, Options>) \
  static_assert(::tagma::diagnose::pool_window_fits<Spec, Size, Options>,                                            \
                "TAGMA-E123 pooling: the window is larger than the padded images")

/// The largest element of each window: `max_pool<2>(x)` halves height and width. Padding never wins; the gradient goes
/// to the first of several equal maxima, row by row.
/// @tparam Size of the window
/// @tparam Options stride (by default the window) and padding (none, `valid_padding`, by default)
/// @param x images, [batch, height, width, channels], floating
/// @return [batch, positions down, positions across, channels]
/// Raises TAGMA-E120 for a wrong rank, TAGMA-E123 if the window is larger than the images, TAGMA-E126 for impossible
/// options, TAGMA-E317 without a window.
template <window Size, pool_options Options = pool_options{}, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto max_pool(const X& x) {
  constexpr pool_options options = detail::pool_steps<Size, Options>;
  TAGMA_NEEDS_WINDOW(typename X::spec_type, Size, options);
  return detail::make_pool<op::max_pool, Size, options, Place>(x);
}
/// Without a window, or with one behind the images: TAGMA-E317.
template <expression X, class... Rest>
auto max_pool(const X&, const Rest&...) {
  static_assert(diagnose::has_window<X, Rest...>,
                "TAGMA-E317 max_pool: the window is a template argument: tagma::max_pool<2>(x)");
}

/// The mean of each window; padding does not count. Everything else as `max_pool`.
template <window Size, pool_options Options = pool_options{}, expression X, class Place = TAGMA_FRESH_TYPE(X)>
[[nodiscard]] constexpr auto average_pool(const X& x) {
  constexpr pool_options options = detail::pool_steps<Size, Options>;
  TAGMA_NEEDS_WINDOW(typename X::spec_type, Size, options);
  return detail::make_pool<op::average_pool, Size, options, Place>(x);
}
/// Without a window, or with one behind the images: TAGMA-E317.
template <expression X, class... Rest>
auto average_pool(const X&, const Rest&...) {
  static_assert(diagnose::has_window<X, Rest...>,
                "TAGMA-E317 average_pool: the window is a template argument: tagma::average_pool<2>(x)");
}

/// The mean of every channel over height and width. Raises TAGMA-E120 for a wrong rank.
/// @param x [batch, height, width, channels], floating
/// @return [batch, channels]
inline constexpr auto global_average_pool = []<class X, class Place = TAGMA_FRESH_TYPE(X)>(const X& x) {
  if constexpr (expression<X>) {
    TAGMA_NEEDS_IMAGES(typename X::spec_type);
    if constexpr (diagnose::is_image_batch<typename X::spec_type>)
      return detail::make_reduction<op::mean, false, Place, 1, 2>(x);
  } else {
    TAGMA_REFUSES_OPERAND("global_average_pool", X);
  }
};

/// The largest element of every channel over height and width; the gradient is shared by equal maxima.
inline constexpr auto global_max_pool = []<class X, class Place = TAGMA_FRESH_TYPE(X)>(const X& x) {
  if constexpr (expression<X>) {
    TAGMA_NEEDS_IMAGES(typename X::spec_type);
    if constexpr (diagnose::is_image_batch<typename X::spec_type>)
      return detail::make_reduction<op::reduce_max, false, Place, 1, 2>(x);
  } else {
    TAGMA_REFUSES_OPERAND("global_max_pool", X);
  }
};

}  // namespace tagma

#undef TAGMA_NEEDS_WINDOW
#undef TAGMA_NEEDS_IMAGES
