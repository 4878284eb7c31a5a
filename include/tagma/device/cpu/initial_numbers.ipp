// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of initial_numbers.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/initial_numbers.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL std::int64_t runtime::write_uniform(float* to, double a, double b, const random_key& key,
                                                          std::uint64_t first, std::int64_t count) {
  count = count / 8 * 8;
  device::cpu::dispatch<device::cpu::uniform_numbers>(to, a, b, &key, first, count);
  return count;
}

}  // namespace tagma
