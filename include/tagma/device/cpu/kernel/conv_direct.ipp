// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of conv_direct.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/conv_direct.hpp"

#if defined(__x86_64__)

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL owned<direct_convolution> direct_convolution::make(const conv_problem& p,
                                                                         const conv_epilogue& after, bool lasting) {
  const std::int64_t window = p.rows.size * p.columns.size;
  if (p.groups != 1 || window > largest || window * p.rows.stride * p.columns.stride == 1 || p.channels < 32 ||
      p.channels * p.filters < 2048 || p.filters % product_tile::columns != 0 ||
      p.images * p.positions() < product_tile::rows)
    return nullptr;
  return owned<direct_convolution>(new direct_convolution(p, after, lasting));
}

TAGMA_COLD TAGMA_DECL direct_convolution::direct_convolution(const conv_problem& p, const conv_epilogue& after,
                                                             bool lasting)
    : p_(p),
      least_(after.relu ? 0 : -__builtin_huge_valf()),
      most_(after.six ? 6 : __builtin_huge_valf()),
      lasting_(lasting),
      memory_(static_cast<std::size_t>(p.filter_elements() + p.channels + p.filters) * sizeof(float)) {
  std::memset(memory_.data(), 0, memory_.size());
  if (lasting) runtime::stored_variable::count_writes();
}

TAGMA_COLD TAGMA_DECL void direct_convolution::arrange(const float* filter) {
  constexpr std::int64_t across = product_tile::columns;
  float* to = panels();
  for (const float* first = filter; first < filter + p_.filters; first += across)
    for (const float* from = first; from < filter + p_.filter_elements(); from += p_.filters, to += across)
      std::memcpy(to, from, across * sizeof(float));
}

TAGMA_COLD TAGMA_DECL void direct_convolution::find(const float* x, std::int64_t pixel, const float** places) const {
  const conv_axis &rows = p_.rows, &columns = p_.columns;
  const std::int64_t line = pixel / columns.out, image = line / rows.out;
  for (std::int64_t h = 0; h < rows.size; ++h)
    for (std::int64_t w = 0; w < columns.size; ++w, places += room) {
      const std::int64_t row = rows.seen(line - image * rows.out, h);
      const std::int64_t column = columns.seen(pixel - line * columns.out, w);
      const bool inside = row >= 0 && row < rows.in && column >= 0 && column < columns.in;
      *places = inside ? x + ((image * rows.in + row) * columns.in + column) * p_.channels
                       : panels() + p_.filter_elements() + p_.filters;
    }
}

TAGMA_COLD TAGMA_DECL void direct_convolution::some_pixels(const float* x, std::int64_t first, std::int64_t n,
                                                           float* y) const {
  constexpr std::int64_t high = product_tile::rows, across = product_tile::columns;
  const float* windows[largest * room];
  for (std::int64_t i = 0; i < n; ++i) find(x, first + i, windows + i);
  product_tile tile;
  tile.next_run = room, tile.terms = p_.channels, tile.runs = p_.rows.size * p_.columns.size;
  tile.panel = panels(), tile.start = panels() + p_.filter_elements();
  tile.next_row = p_.filters, tile.least = least_, tile.most = most_;
  for (std::int64_t q = 0; q < p_.filters; q += across) {
    for (std::int64_t i = 0; i < n; i += high) {
      const std::int64_t at = i + high < n ? i : n - high;  // the last six, some of them once more
      tile.run = windows + at;
      tile.to = y + (first + at) * p_.filters + q;
      tile.compute();
    }
    tile.start += across, tile.panel += across * p_.patch();
  }
}

TAGMA_COLD TAGMA_DECL void direct_convolution::begin(const float* filter, const float* bias,
                                                     const run_context& context) {
  if (!(lasting_ && arranged_of_ == context.writes)) arrange(filter);
  arranged_of_ = context.writes;
  if (bias != nullptr)
    std::memcpy(panels() + p_.filter_elements(), bias, static_cast<std::size_t>(p_.filters) * sizeof(float));
}

TAGMA_COLD TAGMA_DECL void direct_convolution::run(const float* x, float* y, std::int64_t images,
                                                   const run_context& context) const {
  // So that there are at least six pixels in the last group.
  const std::int64_t pixels = images * p_.positions(), groups = (pixels - product_tile::rows) / together + 1;
  // Those of a task have two million multiplications.
  const std::int64_t each = 2000000 / (p_.filter_elements() * together) + 1;
  const auto task = [&](std::int64_t t) __attribute__((cold)) {
    for (std::int64_t g = t * each; g < groups && g < (t + 1) * each; ++g)
      some_pixels(x, g * together, g + 1 < groups ? together : pixels - g * together, y);
  };
  context.threads->parallel_for(pieces(groups, each), task,
                                p_.is_small() ? runtime::helpers::awake : runtime::helpers::woken);
}

}  // namespace tagma::device::cpu::detail

#endif
