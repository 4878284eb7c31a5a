// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of conv_problem.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/conv_problem.hpp"

namespace tagma::device::cpu::detail {

TAGMA_COLD TAGMA_DECL void conv_problem::split(std::int64_t most, double least_work) {
  parts = work() / least_work < static_cast<double>(most) ? static_cast<std::int64_t>(work() / least_work) : most;
  if (parts > images) parts = images;
  if (parts < 1) parts = 1;
  images_per_part = pieces(images, parts);
  tasks = parts = images_per_part == 0 ? 0 : pieces(images, images_per_part);
}

TAGMA_COLD TAGMA_DECL void conv_problem::split_finely(double least_work) {
  const std::int64_t wanted = tasks;
  split(images, least_work);
  tasks = wanted;
}

TAGMA_COLD TAGMA_DECL void conv_problem::split_rows(std::int64_t most, double least_work) {
  if (images_per_part != 1) return;
  const double of_image = work() / static_cast<double>(images);
  std::int64_t wanted = most / images;
  if (of_image / least_work < static_cast<double>(wanted)) wanted = static_cast<std::int64_t>(of_image / least_work);
  if (wanted > rows.out / 4) wanted = rows.out / 4;
  // A power of two: three bands keep two threads as busy as four do, and take longer.
  while ((wanted & (wanted - 1)) != 0) wanted &= wanted - 1;
  if (wanted < 2) return;
  rows_per_band = pieces(rows.out, wanted);
  const std::int64_t found = pieces(rows.out, rows_per_band);
  for (std::int64_t b = 0; b < found; ++b)
    if (band_of(b).rows.in < 1) return;  // it sees nothing but padding, and is no image
  bands = found;
  tasks = parts = images * bands;
}

TAGMA_COLD TAGMA_DECL conv_problem::band conv_problem::band_of(std::int64_t number) const {
  band b;
  b.first_out = number * rows_per_band;
  const std::int64_t rest = rows.out - b.first_out;
  b.rows = rows;
  b.rows.out = rest < rows_per_band ? rest : rows_per_band;
  const std::int64_t first = rows.seen(b.first_out, 0),
                     end = rows.seen(b.first_out + b.rows.out - 1, rows.size - 1) + 1;
  b.first_in = first < 0 ? 0 : first;
  b.rows.in = (end < rows.in ? end : rows.in) - b.first_in;
  b.rows.before = b.first_in - first;
  b.rows.after = end < rows.in ? 0 : end - rows.in;
  return b;
}

TAGMA_COLD TAGMA_DECL std::int64_t conv_problem::count(std::int64_t t) const {
  const std::int64_t rest = images - t * images_per_part;
  return rest < images_per_part ? rest : images_per_part;
}

}  // namespace tagma::device::cpu::detail
