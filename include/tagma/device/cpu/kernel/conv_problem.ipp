// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of conv_problem.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/conv_problem.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL void conv_problem::split(std::int64_t most, double least_work) {
  const double work = static_cast<double>(output_elements()) * static_cast<double>(patch());
  parts = work / least_work < static_cast<double>(most) ? static_cast<std::int64_t>(work / least_work) : most;
  if (parts > images) parts = images;
  if (parts < 1) parts = 1;
  images_per_part = pieces(images, parts);
  parts = images_per_part == 0 ? 0 : pieces(images, images_per_part);
}

TAGMA_DECL std::int64_t conv_problem::count(std::int64_t t) const {
  const std::int64_t rest = images - t * images_per_part;
  return rest < images_per_part ? rest : images_per_part;
}

}  // namespace tagma::device::cpu::detail
