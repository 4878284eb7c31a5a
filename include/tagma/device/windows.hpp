// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Windows that slide over images, in numbers: what kernels of all devices know of convolutions and of pooling. Images
/// are [images, rows, columns, channels].

#include "tagma/base/config.hpp"
#include "tagma/device/functions.hpp"
#include "tagma/device/index.hpp"
#include "tagma/device/kernel.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/expr/op/pool.hpp"

namespace tagma::device {

/// One axis: input extent, output extent, window extent, and how the window moves.
struct conv_axis {
  std::int64_t in = 0, out = 0, size = 0, stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  ///< zeros around the input that a window sees

  conv_axis() = default;
  conv_axis(const op::window_axis& w, std::int64_t extent, std::int64_t positions);
  /// The input position that window element `a` sees at output position `o`; outside of the input for padding.
  [[nodiscard]] TAGMA_DEVICE std::int64_t seen(std::int64_t o, std::int64_t a) const {
    return o * stride - before + a * dilation;
  }
  /// The window elements `first` to `last`, exclusive, that see the input at output position `o`.
  TAGMA_DEVICE void visible(std::int64_t o, std::int64_t& first, std::int64_t& last) const {
    const std::int64_t at = o * stride - before;
    first = at >= 0 ? 0 : pieces(-at, dilation);
    last = at >= in ? 0 : pieces(in - at, dilation);
    if (last > size) last = size;
    if (first > last) first = last;
  }
  /// The output position whose window element `a` sees input position `i`, or -1.
  [[nodiscard]] TAGMA_DEVICE std::int64_t seeing(std::int64_t i, std::int64_t a) const {
    const std::int64_t at = i + before - a * dilation;
    if (at < 0) return -1;
    const std::int64_t o = quotient(at, stride);
    return o * stride == at && o < out ? o : -1;
  }
  /// The output positions `first` to `last`, exclusive, whose windows without dilation see input position `i`.
  TAGMA_DEVICE void covering(std::int64_t i, std::int64_t& first, std::int64_t& last) const {
    const std::int64_t at = i + before;
    first = at < size ? 0 : quotient(at - size, stride) + 1;
    last = quotient(at, stride) + 1;
    if (last > out) last = out;
    if (first > last) first = last;
  }
};

/// What is computed from what: y from x and filter, dx from dy and filter, or dfilter from x and dy.
enum class conv_role : std::uint8_t { forward, input_gradient, filter_gradient };
/// By a function, since clang takes as long to read a comparison of enumerations as ten calls.
[[nodiscard]] constexpr bool plays(conv_role role, conv_role r) {
  return static_cast<int>(role) == static_cast<int>(r);
}

/// A convolution of `images` images with `channels` channels by `filters` filters.
struct conv_problem {
  conv_axis rows, columns;
  std::int64_t images = 0, channels = 0, filters = 0, groups = 1;

  conv_problem(const shape& x, const shape& filter, const shape& y, ir::attribute_list attributes);
  /// Of the first two operands of a role, and its result.
  conv_problem(conv_role role, const shape& a, const shape& b, const shape& result, ir::attribute_list attributes);
  /// Of a kernel in a role. Out of line, since several kernels of a program ask.
  [[gnu::noinline]] conv_problem(conv_role role, const kernel_args& args)
      : conv_problem(role, args.in[0].dims, args.in[1].dims, args.out.dims, args.attributes) {}

  /// Channels and filters of one group.
  [[nodiscard]] TAGMA_DEVICE std::int64_t own_channels() const { return quotient(channels, groups); }
  [[nodiscard]] TAGMA_DEVICE std::int64_t own_filters() const { return quotient(filters, groups); }
  /// Elements of one image, and of its result.
  [[nodiscard]] TAGMA_DEVICE std::int64_t input_size() const { return rows.in * columns.in * channels; }
  [[nodiscard]] TAGMA_DEVICE std::int64_t output_size() const { return positions() * filters; }
  /// Places of the window in one image.
  [[nodiscard]] TAGMA_DEVICE std::int64_t positions() const { return rows.out * columns.out; }
  /// Elements of one filter, which sees one group.
  [[nodiscard]] TAGMA_DEVICE std::int64_t patch() const { return rows.size * columns.size * own_channels(); }
  /// Elements of all images, of all results and of all filters.
  [[nodiscard]] TAGMA_DEVICE std::int64_t input_elements() const { return images * input_size(); }
  [[nodiscard]] TAGMA_DEVICE std::int64_t output_elements() const { return images * output_size(); }
  [[nodiscard]] TAGMA_DEVICE std::int64_t filter_elements() const { return patch() * filters; }
};

/// What follows a convolution in its kernel.
struct conv_epilogue {
  bool biased = false, relu = false;
  bool six = false;  ///< the result is 6 at most
  conv_epilogue() = default;
  conv_epilogue(conv_role role, const kernel_args& args)
      : biased(plays(role, conv_role::forward) && args.in.size() == 3),
        relu(biased && args.attributes[3] != 0),
        six(relu && args.attributes[3] == 2) {}
  /// What becomes of a sum with its bias.
  template <class C>
  [[nodiscard]] TAGMA_DEVICE C activated(C sum) const {
    const C positive = relu ? max(sum, C(0)) : sum;
    return six ? min(positive, C(6)) : positive;
  }
};

/// What is computed of windows: their maxima or means; what is where their maxima are; or the gradients of these.
enum class pool_kind : std::uint8_t { maximum, mean, select, maximum_gradient, mean_gradient };

/// Pooling of `images` images.
struct pool_problem {
  conv_axis rows, columns;
  std::int64_t images = 0, channels = 0;

  pool_problem(const shape& x, const shape& y, ir::attribute_list attributes);
  /// Of a kernel of a kind. Out of line, as above.
  pool_problem(pool_kind kind, const kernel_args& args);
  /// Elements of one image, and of its result.
  [[nodiscard]] TAGMA_DEVICE std::int64_t input_size() const { return rows.in * columns.in * channels; }
  [[nodiscard]] TAGMA_DEVICE std::int64_t output_size() const { return rows.out * columns.out * channels; }
  /// Elements of all images, and of all results.
  [[nodiscard]] TAGMA_DEVICE std::int64_t input_elements() const { return images * input_size(); }
  [[nodiscard]] TAGMA_DEVICE std::int64_t output_elements() const { return images * output_size(); }
};

/// The part of an image that the window at row `i`, column `j` of the result sees: rows `top` to `bottom`, columns
/// `left` to `right`, exclusive.
struct pool_window {
  std::int64_t top, bottom, left, right;

  TAGMA_DEVICE pool_window(const pool_problem& p, std::int64_t i, std::int64_t j) {
    p.rows.visible(i, top, bottom);
    p.columns.visible(j, left, right);
    const std::int64_t y = p.rows.seen(i, 0), x = p.columns.seen(j, 0);
    top += y, bottom += y, left += x, right += x;
  }
  [[nodiscard]] TAGMA_DEVICE std::int64_t count() const { return (bottom - top) * (right - left); }
};

/// An element of images: which image, row, column and channel.
struct image_position {
  std::int64_t image, row, column, channel;

  TAGMA_DEVICE image_position(std::int64_t index, std::int64_t rows, std::int64_t columns, std::int64_t channels) {
    const std::int64_t pixel = quotient(index, channels), line = quotient(pixel, columns);
    channel = index - pixel * channels;
    column = pixel - line * columns;
    image = quotient(line, rows);
    row = line - image * rows;
  }
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/windows.ipp"
#endif
