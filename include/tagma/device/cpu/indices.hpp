// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Elements of tensors that are used as positions. They may have been fed, whatever computes them otherwise, so every
/// kernel looks at them before it goes where they point.

#include "tagma/base/config.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::device::cpu {

[[noreturn]] TAGMA_COLD inline void fail_index(std::int64_t index, std::int64_t position, extent size) {
  fail(status_code::out_of_range,
       {"index ", index, " at position ", position, " is not below the extent of the axis, ", size});
}

/// Throws OutOfRange unless all of `count` indices are positions of an axis of `size` elements.
template <class Index>
void check_indices(const Index* index, std::int64_t count, extent size) {
  for (std::int64_t i = 0; i < count; ++i)
    if (const auto at = static_cast<std::int64_t>(index[i]); at < 0 || at >= size) fail_index(at, i, size);
}

/// Whether all of `count` indices are positions of an axis of `size` elements; all are looked at, without branches.
template <class Index>
[[nodiscard]] bool are_indices(const Index* index, std::int64_t count, extent size) {
  std::uint64_t outside = 0;  // its uppermost bit: a difference from what is negative does not matter any more
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(static_cast<std::int64_t>(index[i]));
    outside |= at | (static_cast<std::uint64_t>(size) - 1 - at);
  }
  return outside >> 63 == 0;
}

}  // namespace tagma::device::cpu
