// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/random_blocks.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

namespace {

template <int Blocks>
void check_blocks(const tagma::random_key& key, std::uint64_t first, std::uint16_t attempt) {
  std::uint32_t words[static_cast<unsigned>(4 * Blocks)];
  tagma::random_blocks<Blocks>(key, first, attempt, words);
  for (unsigned i = 0; i < Blocks; ++i) {
    const tagma::philox_block one = tagma::random_block(key, first + i, attempt);
    for (unsigned k = 0; k < 4; ++k) CHECK(words[4 * i + k] == one[k]);
  }
}

TEST_CASE("blocks in a row are those that are made one by one") {
  for (const tagma::random_key key : {tagma::random_key{}, tagma::random_key{0x0123456789abcdefu, 0xfedcba98u, 7}})
    // At zero, where the words of a counter carry, and at the last ones.
    for (const std::uint64_t first : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 3, (std::uint64_t{1} << 48) - 8}) {
      check_blocks<4>(key, first, 0);
      check_blocks<8>(key, first, 3);
    }
}

}  // namespace
