// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Lifetimes to offsets. First fit by address over a list of live blocks that stays sorted by offset, so the planner is
/// near linear for the graphs that people write. The compiler runs it for static peaks, a session for the extents of a
/// run.

#include "tagma/plan/plan.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::plan {

/// Every block begins on a cache line.
inline constexpr std::int64_t alignment = 64;

[[nodiscard]] constexpr std::int64_t rounded(std::int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Chooses an offset for each block of a device; blocks must be ordered by their first step. Returns the bytes of the
/// arena, or `too_many` if they are more than `max_bytes`.
/// @param bytes size of each block, at most `max_bytes`
/// @param offsets written, one a block of that device
/// @param live scratch, one a block
constexpr std::int64_t plan_memory(array_view<const plan_block> blocks, array_view<const std::int64_t> bytes,
                                   array_view<std::int64_t> offsets, array_view<std::int32_t> live,
                                   std::int16_t device = 0) {
  std::size_t count = 0;
  std::int64_t peak = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].device != device) continue;
    const std::int64_t size = rounded(bytes[b]);
    std::size_t kept = 0, place = 0;
    bool found = false;
    std::int64_t end = 0, offset = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t other = live[i];
      if (blocks[other].last < blocks[b].first) continue;
      if (!found && offsets[other] - end >= size) {
        found = true;
        place = kept;
        offset = end;
      }
      end = offsets[other] + rounded(bytes[other]);
      live[kept++] = live[i];
    }
    if (!found) {
      place = kept;
      offset = end;
    }
    if (size > max_bytes - offset) return too_many;
    for (std::size_t i = kept; i > place; --i) live[i] = live[i - 1];
    live[place] = static_cast<std::int32_t>(b);
    count = kept + 1;
    offsets[b] = offset;
    if (offset + size > peak) peak = offset + size;
  }
  return peak;
}

}  // namespace tagma::plan
