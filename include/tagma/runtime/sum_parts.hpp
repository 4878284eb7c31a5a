// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How sums of columns are formed of parts, which threads share. It follows from the extents alone.

#include <cstdint>

namespace tagma::runtime {

/// The rows of each part of the sum of `rows` rows, which are added in their order; the sums of the parts are added in
/// theirs. All of them where columns are enough to be shared, or elements are few.
[[nodiscard]] constexpr std::int64_t rows_of_part(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t most_parts = 16, widest = 256, elements = 32768;
  if (columns > widest || columns == 0 || rows <= 2 * elements / columns) return rows;
  const std::int64_t share = (rows + most_parts - 1) / most_parts, least = (elements + columns - 1) / columns;
  return share < least ? least : share;
}

}  // namespace tagma::runtime
