// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Windows that slide over height and width: their sizes, steps and paddings, shared by convolutions and pooling.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/elementwise.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma {

/// A height and a width: of a window, or of the steps it makes. One number stands for both.
struct window {
  int height = 1;
  int width = 1;

  constexpr window() = default;
  constexpr window(int both) : height(both), width(both) {}
  constexpr window(int rows, int columns) : height(rows), width(columns) {}
  friend constexpr bool operator==(const window&, const window&) = default;
};

/// Rows and columns of zeros around the input: `same_padding`, `valid_padding`, or numbers.
struct window_padding {
  int top = 0;
  int bottom = 0;
  int left = 0;
  int right = 0;
  bool automatic = false;  ///< as many as `same_padding` needs; the numbers are not used

  constexpr window_padding() = default;
  constexpr window_padding(int all) : top(all), bottom(all), left(all), right(all) {}
  constexpr window_padding(int rows, int columns) : top(rows), bottom(rows), left(columns), right(columns) {}
  /// All members: the CUDA front end writes a template argument down this way.
  constexpr window_padding(int top_rows, int bottom_rows, int left_columns, int right_columns, bool as_needed = false)
      : top(top_rows), bottom(bottom_rows), left(left_columns), right(right_columns), automatic(as_needed) {}
  friend constexpr bool operator==(const window_padding&, const window_padding&) = default;
};

/// No padding.
inline constexpr window_padding valid_padding{};
/// The output has ceil(input / stride) rows and columns; an odd row or column of zeros goes to the end, as in
/// TensorFlow.
inline constexpr window_padding same_padding = [] {
  window_padding p;
  p.automatic = true;
  return p;
}();

namespace op {

/// How a window moves along one axis.
struct window_axis {
  extent size = 1, stride = 1, dilation = 1, before = 0, after = 0;
  bool automatic = false;

  /// Input elements from the first to the last that one window covers.
  [[nodiscard]] constexpr extent reach() const { return bounded_sum(bounded_product(size - 1, dilation), 1); }
  /// Positions of the window over `in` elements; 0 if it does not fit, or reaches further than any axis.
  [[nodiscard]] TAGMA_COLD constexpr extent positions(extent in) const {
    if (in == dyn || (size == dyn && !automatic)) return dyn;
    if (reach() > max_bytes) return 0;
    if (automatic) return in / stride + (in % stride != 0);
    const extent room = bounded_sum(in, before + after) - reach();
    return room < 0 ? 0 : room / stride + 1;
  }
  /// Zeros in front of the first element.
  [[nodiscard]] constexpr extent lead(extent in) const {
    if (!automatic) return before;
    const extent missing = bounded_sum((positions(in) - 1) * stride, reach()) - in;
    return missing > 0 ? missing / 2 : 0;
  }
  /// The smallest input (for `same` padding the largest) over which the window has `out` positions.
  [[nodiscard]] TAGMA_COLD constexpr extent covered(extent out) const {
    if (out == dyn || (size == dyn && !automatic)) return dyn;
    if (automatic) return bounded_product(out, stride);
    return bounded_sum(bounded_product(out - 1, stride), reach()) - before - after;
  }
};

/// A window over both axes of an image. Two attributes hold everything but its size.
struct window_plane {
  window_axis rows, columns;

  [[nodiscard]] static constexpr ir::attribute pack_steps(const window& stride, const window& dilation) {
    return ir::attribute{stride.height} | ir::attribute{stride.width} << 16 | ir::attribute{dilation.height} << 32 |
           ir::attribute{dilation.width} << 48;
  }
  [[nodiscard]] static constexpr ir::attribute pack_padding(const window_padding& p) {
    return p.automatic ? -1
                       : ir::attribute{p.top} | ir::attribute{p.bottom} << 15 | ir::attribute{p.left} << 30 |
                             ir::attribute{p.right} << 45;
  }
  /// Lets `t` check these, and returns them, of one element.
  static constexpr window_plane take(auto& t) {
    const ir::attribute both[] = {t.attribute("steps", 0, INT64_MAX), t.attribute("padding", -1, INT64_MAX >> 3)};
    const window_plane w(both, 1, 1);
    t.within("stride down", w.rows.stride, 1, 0xffff), t.within("stride across", w.columns.stride, 1, 0xffff);
    t.within("dilation down", w.rows.dilation, 1, 0x7fff), t.within("dilation across", w.columns.dilation, 1, 0x7fff);
    return w;
  }
  /// From attributes 0 (steps) and 1 (padding).
  constexpr window_plane(ir::attribute_list attributes, extent height, extent width) {
    const auto steps = static_cast<std::uint64_t>(attributes[0]);
    const ir::attribute pads = attributes[1];
    const auto step = [steps](int at) { return static_cast<extent>((steps >> at) & 0xffff); };
    const auto pad = [pads](int at) { return pads < 0 ? 0 : (pads >> at) & 0x7fff; };
    rows = {height, step(0), step(32), pad(0), pad(15), pads < 0};
    columns = {width, step(16), step(48), pad(30), pad(45), pads < 0};
  }
};

}  // namespace op

namespace diagnose {
/// Windows, strides and dilations are from 1 to 65535 (dilations to 32767), paddings from 0 to 32767.
template <window Stride, window Dilation, window_padding Padding>
inline constexpr bool window_options_are_valid =
    Stride.height >= 1 && Stride.height < 65536 && Stride.width >= 1 && Stride.width < 65536 && Dilation.height >= 1 &&
    Dilation.height < 32768 && Dilation.width >= 1 && Dilation.width < 32768 && Padding.top >= 0 &&
    Padding.top < 32768 && Padding.bottom >= 0 && Padding.bottom < 32768 && Padding.left >= 0 && Padding.left < 32768 &&
    Padding.right >= 0 && Padding.right < 32768;
/// A tensor has the axes batch, height, width, channels.
template <class Spec>
inline constexpr bool is_image_batch = Spec::value.dims.rank == 4;
}  // namespace diagnose

}  // namespace tagma
