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
  void add(const runtime::operand& rows, const runtime::operand& indices, extent table);

  /// The rows that were added, sorted; the next `add` begins anew.
  [[nodiscard]] array_view<const gradient_row> sorted(extent table);

 private:
  heap_array<gradient_row> rows_, scratch_;
  std::int64_t count_ = 0;
};

}  // namespace tagma::device::cpu

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/sparse_rows.ipp"
#endif
