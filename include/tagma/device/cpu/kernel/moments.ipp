// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of moments.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/moments.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL moments_plan::moments_plan(const shape& dims, std::uint64_t mask) {
  reduced_axes axes = join_axes(dims, mask);
  if (axes.count == 0) axes.extents[0] = 1, axes.reduced[0] = true, axes.count = 1;
  last = axes.extents[axes.count - 1];
  last_is_joined = axes.reduced[axes.count - 1];
  std::int64_t stride = last;
  for (int a = axes.count - 2; a >= 0; --a) {
    const bool joined = axes.reduced[a];
    (joined ? joined_extents : kept_extents)[joined ? joined_axes : kept_axes] = axes.extents[a];
    (joined ? joined_strides : kept_strides)[joined ? joined_axes++ : kept_axes++] = stride;
    (joined ? lines : kept) *= axes.extents[a];
    stride *= axes.extents[a];
  }
  groups = last_is_joined ? 1 : pieces(last, columns);
  constexpr std::int64_t most = 64;
  const std::int64_t worth = pieces(lines * (last_is_joined   ? last
                                             : last < columns ? last
                                                              : columns),
                                    elements_of_task);
  const std::int64_t wanted = kept * groups < most ? pieces(most, kept * groups > 0 ? kept * groups : 1) : 1;
  parts = worth < wanted ? worth : wanted;
  if (parts > pieces_of_lines()) parts = pieces_of_lines();
  if (parts < 1) parts = 1;
}

TAGMA_DECL std::int64_t moments_plan::offset(std::int64_t index, const std::int64_t* extents,
                                             const std::int64_t* strides, int axes) {
  std::int64_t sum = 0;
  for (int a = 0; a < axes; ++a) {  // the innermost comes first
    sum += index % extents[a] * strides[a];
    index /= extents[a];
  }
  return sum;
}

TAGMA_DECL std::int64_t moments_plan::of_line(std::int64_t i) const {
  return offset(i, joined_extents, joined_strides, joined_axes);
}

TAGMA_DECL void joined_moments::add(double other_count, double other_mean, double other_squares) {
  if (other_count == 0) return;
  const double share = other_count / (count + other_count), off = other_mean - mean;
  mean += off * share;
  squares += other_squares + off * off * (count * share);
  count += other_count;
}

}  // namespace tagma::device::cpu::detail
