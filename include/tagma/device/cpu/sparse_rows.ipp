// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of sparse_rows.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/sparse_rows.hpp"

namespace tagma::device::cpu {

TAGMA_DECL void row_sorter::add(const runtime::operand& rows, const runtime::operand& indices, extent table) {
  const std::int64_t count = indices.elements();
  const std::int64_t bytes = count == 0 ? 0 : rows.elements() / count * static_cast<std::int64_t>(size_of(rows.type));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = index_at(indices.data, indices.type, i);
    if (row < 0 || row >= table) {
      count_ = 0;
      fail_index(row, i, table);
    }
    rows_[count_++] = {row, rows.data + i * bytes};
  }
}

TAGMA_DECL array_view<const gradient_row> row_sorter::sorted(extent table) {
  gradient_row *from = rows_.data(), *to = scratch_.data();
  // Radix sort, a byte at a time, as many as a row number of the table has.
  for (int shift = 0; (table - 1) >> shift > 0; shift += 8) {
    std::int64_t place[257]{};
    const auto digit = [&](const gradient_row& r) { return static_cast<std::size_t>(r.row >> shift & 255); };
    for (std::int64_t i = 0; i < count_; ++i) ++place[digit(from[i]) + 1];
    for (std::size_t d = 0; d < 255; ++d) place[d + 1] += place[d];
    for (std::int64_t i = 0; i < count_; ++i) to[place[digit(from[i])]++] = from[i];
    gradient_row* const sorted = to;
    to = from;
    from = sorted;
  }
  const std::int64_t count = count_;
  count_ = 0;
  return {from, count};
}

}  // namespace tagma::device::cpu
