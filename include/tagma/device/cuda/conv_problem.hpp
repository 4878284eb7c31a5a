// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Windows that slide over images, in numbers: for convolutions and for pooling.

#include "tagma/device/cuda/scalar.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/expr/op/pool.hpp"

namespace tagma::device::cuda {

/// One axis: input extent, output extent, window extent, and how the window moves.
struct conv_axis {
  std::int64_t in = 0, out = 0, size = 0, stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  ///< zeros around the input that a window sees

  conv_axis() = default;
  conv_axis(const op::window_axis& w, std::int64_t extent, std::int64_t positions)
      : in(extent), out(positions), size(w.size), stride(w.stride), dilation(w.dilation), before(w.lead(extent)) {
    const std::int64_t end = (out - 1) * stride + w.reach() - in - before;
    after = end > 0 ? end : 0;
  }
  /// The input position that window element `a` sees at output position `o`; outside of the input for padding.
  [[nodiscard]] TAGMA_DEVICE std::int64_t seen(std::int64_t o, std::int64_t a) const {
    return o * stride - before + a * dilation;
  }
  /// The window elements `first` to `last`, exclusive, that see the input at output position `o`.
  TAGMA_DEVICE void visible(std::int64_t o, std::int64_t& first, std::int64_t& last) const {
    const std::int64_t at = o * stride - before;
    first = at >= 0 ? 0 : quotient(-at + dilation - 1, dilation);
    last = at >= in ? 0 : quotient(in - at + dilation - 1, dilation);
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

/// A convolution of `images` images with `channels` channels by `filters` filters.
struct conv_problem {
  conv_axis rows, columns;
  std::int64_t images = 0, channels = 0, filters = 0, groups = 1;

  conv_problem(const shape& x, const shape& filter, const shape& y, ir::attribute_list attributes)
      : images(x[0]), channels(x[3]), filters(filter[3]), groups(attributes[2]) {
    const op::window_plane plane = op::convolution::plane(attributes, filter);
    rows = {plane.rows, x[1], y[1]};
    columns = {plane.columns, x[2], y[2]};
  }
  /// Channels and filters of one group.
  [[nodiscard]] TAGMA_DEVICE std::int64_t own_channels() const { return quotient(channels, groups); }
  [[nodiscard]] TAGMA_DEVICE std::int64_t own_filters() const { return quotient(filters, groups); }
  [[nodiscard]] TAGMA_DEVICE std::int64_t input_elements() const { return images * rows.in * columns.in * channels; }
  [[nodiscard]] TAGMA_DEVICE std::int64_t output_elements() const { return images * rows.out * columns.out * filters; }
  [[nodiscard]] TAGMA_DEVICE std::int64_t filter_elements() const {
    return rows.size * columns.size * own_channels() * filters;
  }
};

/// Pooling.
struct pool_problem {
  conv_axis rows, columns;
  std::int64_t images = 0, channels = 0;

  pool_problem(const shape& x, const shape& y, ir::attribute_list attributes) : images(x[0]), channels(x[3]) {
    const op::window_plane plane = op::pooling::plane(attributes);
    rows = {plane.rows, x[1], y[1]};
    columns = {plane.columns, x[2], y[2]};
  }
  [[nodiscard]] TAGMA_DEVICE std::int64_t input_elements() const { return images * rows.in * columns.in * channels; }
  [[nodiscard]] TAGMA_DEVICE std::int64_t output_elements() const { return images * rows.out * columns.out * channels; }
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

}  // namespace tagma::device::cuda
