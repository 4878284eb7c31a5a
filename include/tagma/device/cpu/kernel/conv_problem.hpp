// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A convolution in numbers, and how its batch is split into tasks.

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/runtime/bound_plan.hpp"

namespace tagma::device::cpu::detail {

/// What is computed from what: y from x and filter, dx from dy and filter, or dfilter from x and dy.
enum class conv_role : std::uint8_t { forward, input_gradient, filter_gradient };

/// One axis: input extent, output extent, filter extent, and how the filter moves.
struct conv_axis {
  std::int64_t in = 0, out = 0, size = 0, stride = 1, dilation = 1, before = 0, after = 0;

  conv_axis() = default;
  conv_axis(const op::window_axis& w, std::int64_t extent, std::int64_t positions)
      : in(extent), out(positions), size(w.size), stride(w.stride), dilation(w.dilation), before(w.lead(extent)) {
    const std::int64_t end = (out - 1) * stride + w.reach() - in - before;
    after = end > 0 ? end : 0;
  }
  /// The filter elements `first` to `last`, exclusive, that see the input at output position `o`.
  TAGMA_INLINE void visible(std::int64_t o, std::int64_t& first, std::int64_t& last) const {
    const std::int64_t at = o * stride - before;
    first = at >= 0 ? 0 : (-at + dilation - 1) / dilation;
    last = at >= in ? 0 : (in - at + dilation - 1) / dilation;
    if (last > size) last = size;
    if (first > last) first = last;
  }
};

/// A convolution of `images` images with `channels` channels by `filters` filters.
struct conv_problem {
  conv_axis rows, columns;
  std::int64_t images = 0, channels = 0, filters = 0, groups = 1;
  std::int64_t parts = 1, images_per_part = 1;

  conv_problem(const shape& x, const shape& filter, const shape& y, ir::attribute_list attributes)
      : images(x[0]), channels(x[3]), filters(filter[3]), groups(attributes[2]) {
    const op::window_plane plane = op::convolution::plane(attributes, filter);
    rows = {plane.rows, x[1], y[1]};
    columns = {plane.columns, x[2], y[2]};
  }
  [[nodiscard]] std::int64_t input_size() const { return rows.in * columns.in * channels; }
  [[nodiscard]] std::int64_t positions() const { return rows.out * columns.out; }
  [[nodiscard]] std::int64_t output_size() const { return positions() * filters; }
  /// Elements of one filter that one group sees.
  [[nodiscard]] std::int64_t patch() const { return rows.size * columns.size * (channels / groups); }
  [[nodiscard]] std::int64_t filter_size() const { return patch() * filters; }

  /// Splits the batch by the work it is, never by the number of threads, so that sums are always formed the same way.
  void split(std::int64_t most, double least_work) {
    const double work = static_cast<double>(images) * static_cast<double>(output_size()) * static_cast<double>(patch());
    parts = work / least_work < static_cast<double>(most) ? static_cast<std::int64_t>(work / least_work) : most;
    if (parts > images) parts = images;
    if (parts < 1) parts = 1;
    images_per_part = (images + parts - 1) / parts;
    parts = images_per_part == 0 ? 0 : (images + images_per_part - 1) / images_per_part;
  }
  /// Images of part `t`.
  [[nodiscard]] std::int64_t count(std::int64_t t) const {
    const std::int64_t rest = images - t * images_per_part;
    return rest < images_per_part ? rest : images_per_part;
  }
};

/// to[i] = sum of `count` vectors that follow each other in memory, `stride` apart.
template <class T>
struct sum_vectors {
  TAGMA_INLINE static void run(T* to, const T* from, std::int64_t n, std::int64_t count, std::int64_t stride) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      auto total = load<8>(from + i);
      for (std::int64_t k = 1; k < count; ++k) total = total + load<8>(from + k * stride + i);
      store(to + i, total);
    }
    for (; i < n; ++i) {
      T total = from[i];
      for (std::int64_t k = 1; k < count; ++k) total = total + from[k * stride + i];
      to[i] = total;
    }
  }
};

}  // namespace tagma::device::cpu::detail
