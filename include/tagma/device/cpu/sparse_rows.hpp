// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Rows of a sparse gradient, sorted by the row of the table that they go to.

#include "tagma/base/array_view.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/device/cpu/indices.hpp"
#include "tagma/device/index.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma::device::cpu {

/// A row of a gradient: where it goes and where it is.
struct gradient_row {
  std::int64_t row = 0;
  const std::byte* from = nullptr;
};

/// Collects the rows of a gradient and sorts them; rows that go to one place stay in the order in which they were
/// added. Memory is taken once, time is linear.
class row_sorter final : public runtime::kernel_state {
 public:
  /// @param capacity rows of one run
  explicit row_sorter(std::size_t capacity) : rows_(capacity), scratch_(capacity) {}

  /// Adds the rows of one tensor; OutOfRange if an index is not one of `table` rows.
  void add(const runtime::operand& rows, const runtime::operand& indices, extent table) {
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

  /// The rows that were added, sorted; the next `add` begins anew.
  [[nodiscard]] array_view<const gradient_row> sorted(extent table) {
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

 private:
  heap_array<gradient_row> rows_, scratch_;
  std::int64_t count_ = 0;
};

}  // namespace tagma::device::cpu
