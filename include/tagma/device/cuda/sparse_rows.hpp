// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Rows that are added to rows of a table, sorted by where they go: threads own rows of the table, and what goes to
/// one row is added in the order in which it was given. No atomics, so equal inputs give equal bytes.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/libraries.hpp"
#include "tagma/device/cuda/sort.hpp"

namespace tagma::device::cuda {

/// Several tensors of rows, with an index for each row, one behind the other.
struct row_parts {
  static constexpr int most = 16;
  const std::byte* rows[most]{};
  const std::byte* indices[most]{};
  dtype types[most]{};
  std::int64_t first[most + 1]{};  ///< of the rows of each part, among all
  std::int32_t count = 0;

  void add(const operand& part, const operand& index) {
    rows[count] = part.data;
    indices[count] = index.data;
    types[count] = index.type;
    first[count + 1] = first[count] + index.elements();
    ++count;
  }
  /// The number of rows.
  [[nodiscard]] TAGMA_DEVICE std::int64_t total() const { return first[count]; }
  /// The part that row `i` is in.
  [[nodiscard]] TAGMA_DEVICE int part_of(std::int64_t i) const {
    int p = 0;
    while (i >= first[p + 1]) ++p;
    return p;
  }
  [[nodiscard]] TAGMA_DEVICE std::int64_t index(std::int64_t i) const {
    const int p = part_of(i);
    return index_at(indices[p], types[p], i - first[p]);
  }
  /// Row `i`, of `width` elements.
  template <class T>
  [[nodiscard]] TAGMA_DEVICE const T* row(std::int64_t i, std::int64_t width) const {
    const int p = part_of(i);
    return reinterpret_cast<const T*>(rows[p]) + (i - first[p]) * width;
  }
};

/// The rows of `row_parts`, sorted. Rows without a place stand behind all others, as if they went to row `table`.
struct sorted_rows {
  const std::uint32_t* to = nullptr;    ///< the row of the table
  const std::uint32_t* from = nullptr;  ///< the row among the parts
  std::int64_t count = 0;
  std::int64_t table = 0;

  /// True if the rows from `i` on go to another place than the one before.
  [[nodiscard]] TAGMA_DEVICE bool begins(std::int64_t i) const {
    return to[i] < table && (i == 0 || to[i - 1] != to[i]);
  }
  /// The first position that goes to `row` or behind.
  [[nodiscard]] TAGMA_DEVICE std::int64_t find(std::int64_t row) const {
    std::int64_t low = 0, high = count;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (to[middle] < row)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// `total` and element `e` of all rows from position `i` on that go to one place. Loads come several at a time, since
  /// each takes longer than an addition.
  template <class T>
  [[nodiscard]] TAGMA_DEVICE compute_t<T> add_from(std::int64_t i, const row_parts& parts, std::int64_t width,
                                                   std::int64_t e, compute_t<T> total) const {
    constexpr int ahead = 8;
    const std::uint32_t row = to[i];
    while (i + ahead <= count && to[i + ahead - 1] == row) {
      compute_t<T> values[ahead];
      TAGMA_UNROLL
      for (int k = 0; k < ahead; ++k) values[k] = widen(parts.row<T>(from[i + k], width)[e]);
      TAGMA_UNROLL
      for (int k = 0; k < ahead; ++k) total = static_cast<compute_t<T>>(total + values[k]);
      i += ahead;
    }
    for (; i < count && to[i] == row; ++i)
      total = static_cast<compute_t<T>>(total + widen(parts.row<T>(from[i], width)[e]));
    return total;
  }
};

namespace detail {

struct row_keys_body {
  struct arguments {
    row_parts parts;
    std::uint32_t* keys;
    std::uint32_t* values;
    std::int64_t table;
    run_parameters* run;
    std::int32_t source;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.parts.total(); i += at.count()) {
      const std::int64_t row = a.parts.index(i);
      const bool good = row >= 0 && row < a.table;
      if (!good) report_index(a.run, a.source, i - a.parts.first[a.parts.part_of(i)]);
      a.keys[i] = static_cast<std::uint32_t>(good ? row : a.table);
      a.values[i] = static_cast<std::uint32_t>(i);
    }
  }
};

}  // namespace detail

/// Reserves what `sort_rows` needs.
/// @param count rows that go to a table of `table` rows; both below 2^32
inline void reserve_sort(std::int64_t count, std::int64_t table, const run_context& context) {
  if (!can_be_sorted(count) || !can_be_sorted(table + 1))
    fail(status_code::unimplemented,
         {"the GPU adds at most 2^32 rows to tables of at most 2^32, not ", count, " to ", table});
  sort_memory{count, significant_bits(table)}.reserve(context);
}

/// Sorts rows by where they go; wrong indices are reported, and their rows go nowhere. What it returns lies in working
/// memory of the stream.
inline sorted_rows sort_rows(const row_parts& parts, std::int64_t table, const kernel_args& args,
                             const run_context& context) {
  stream_resources& r = resources_of(context);
  const sort_memory memory{parts.total(), significant_bits(table)};
  const sort_arrays a = memory.arrays(r.workspace());
  if (a.count == 0) return {nullptr, nullptr, 0, table};
  launch<detail::row_keys_body>(geometry::over(a.count), context,
                                {parts, a.keys, a.values, table, r.parameters(), args.source});
  memory.sort(a, context);
  return {a.sorted_keys, a.sorted_values, a.count, table};
}

}  // namespace tagma::device::cuda
