// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/memory.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/base/random.hpp"

namespace {

using namespace tagma;
using plan::plan_block;

constexpr std::int64_t arena(array_view<const plan_block> blocks, array_view<const std::int64_t> bytes,
                             array_view<std::int64_t> offsets) {
  std::int32_t live[64]{};
  return plan::plan_memory(blocks, bytes, offsets, {live, 64});
}

static_assert(plan::rounded(0) == 0 && plan::rounded(1) == 64 && plan::rounded(64) == 64 && plan::rounded(65) == 128);

/// A chain: each block dies when the next but one begins, so two places are enough.
constexpr std::int64_t chain() {
  const plan_block blocks[] = {{0, 0, 1}, {1, 1, 2}, {2, 2, 3}, {3, 3, 4}};
  const std::int64_t bytes[] = {100, 100, 100, 100};
  std::int64_t offsets[4]{};
  const std::int64_t peak = arena(blocks, bytes, offsets);
  return offsets[0] == 0 && offsets[1] == 128 && offsets[2] == 0 && offsets[3] == 128 ? peak : -1;
}
static_assert(chain() == 256);

/// A small block goes into the gap that a large one left; an empty one takes no room.
constexpr std::int64_t gap() {
  const plan_block blocks[] = {{0, 0, 1}, {1, 0, 5}, {2, 2, 5}, {3, 2, 5}, {4, 3, 5}};
  const std::int64_t bytes[] = {256, 64, 64, 0, 192};
  std::int64_t offsets[5]{};
  const std::int64_t peak = arena(blocks, bytes, offsets);
  return offsets[1] == 256 && offsets[2] == 0 && offsets[4] == 64 ? peak : -1;
}
static_assert(gap() == 320);
static_assert(arena({}, {}, {}) == 0);

/// Blocks that each fit, and live at once.
constexpr std::int64_t sum_of(std::int64_t each) {
  const plan_block blocks[] = {{0, 0, 3}, {1, 1, 3}, {2, 2, 3}};
  const std::int64_t bytes[] = {each, each, each};
  std::int64_t offsets[3]{};
  return arena(blocks, bytes, offsets);
}
static_assert(sum_of(max_bytes / 4) == max_bytes / 4 * 3);
static_assert(sum_of(max_bytes / 2) == too_many);
static_assert(sum_of(max_bytes) == too_many);

TEST_CASE("blocks whose lives do not meet share their place") {
  CHECK(chain() == 256);
  CHECK(gap() == 320);
}

TEST_CASE("no two living blocks overlap, whatever their sizes and lives") {
  const random_key key{7, 1, 0};
  for (std::uint64_t round = 0; round < 50; ++round) {
    std::vector<plan_block> blocks;
    std::vector<std::int64_t> bytes;
    std::int64_t total = 0;
    for (std::int32_t b = 0; b < 60; ++b) {
      const auto r = random_block(key, round * 60 + static_cast<std::uint64_t>(b));
      blocks.push_back({b, b, b + static_cast<std::int32_t>(r[0] % 12)});
      bytes.push_back(r[1] % 5 == 0 ? 0 : static_cast<std::int64_t>(r[2] % 1000));
      total += (bytes.back() + 63) / 64 * 64;
    }
    std::vector<std::int64_t> offsets(60);
    const std::int64_t peak = arena(blocks, bytes, offsets);
    CHECK(peak <= total);
    for (std::size_t i = 0; i < 60; ++i) {
      CHECK(offsets[i] % 64 == 0);
      CHECK(offsets[i] + bytes[i] <= peak);
      for (std::size_t j = 0; j < i; ++j) {
        const bool meet = blocks[j].last >= blocks[i].first;
        const bool apart = offsets[i] + bytes[i] <= offsets[j] || offsets[j] + bytes[j] <= offsets[i];
        if (meet && bytes[i] > 0 && bytes[j] > 0) CHECK(apart);
      }
    }
  }
}

}  // namespace
