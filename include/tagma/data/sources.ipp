// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of sources.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/sources.hpp"

namespace tagma::datasets::detail {

TAGMA_DECL bool is_row_of(const shape& row, const shape& all) {
  if (row.rank != all.rank - 1) return false;
  for (int axis = 1; axis < all.rank; ++axis)
    if (row[axis - 1] != all[axis]) return false;
  return true;
}

TAGMA_COLD TAGMA_DECL extent rows_of(const shape& dims) {
  if (dims.rank == 0) fail(status_code::invalid_argument, "a scalar has no rows");
  return dims[0];
}

TAGMA_COLD TAGMA_DECL extent common_rows(array_view<const extent> rows) {
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i] != rows[0])
      fail(status_code::invalid_argument, {"component 0 has ", rows[0], " rows, and component ", i, " has ", rows[i]});
  return rows[0];
}

TAGMA_DECL range_source::range_source(std::int64_t first, std::int64_t last, std::int64_t step)
    : first_(first), step_(step) {
  if (step == 0) fail(status_code::invalid_argument, "range: a step of 0 leads nowhere");
  const auto unsign = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  if (step > 0 ? first >= last : first <= last) return;
  const std::uint64_t way = step > 0 ? unsign(last) - unsign(first) : unsign(first) - unsign(last);
  const std::uint64_t pace = step > 0 ? unsign(step) : 0 - unsign(step);
  const std::uint64_t count = (way - 1) / pace + 1;
  if (count >= unsign(endless))
    fail(status_code::invalid_argument, {"range: from ", first, " to ", last, " are more numbers than 63 bits count"});
  size_ = static_cast<extent>(count);
}

TAGMA_DECL got range_source::get(extent i, std::uint64_t, std::int64_t& to, iteration&) const {
  to = static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) +
                                 static_cast<std::uint64_t>(step_) * static_cast<std::uint64_t>(i));
  return got::element;
}

TAGMA_DECL void range_source::describe(std::string& to) const {
  append_parts(to, {"range ", first_, " ", step_, " ", size_});
}

}  // namespace tagma::datasets::detail
