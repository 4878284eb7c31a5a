// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/random_blocks.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

TEST_CASE("blocks that are made together are those of the generator, with keys and numbers of all bits") {
  for (const tagma::random_key key :
       {tagma::random_key{}, tagma::random_key{0xdeadbeefcafef00d, 0xffffffff, 0x80000001}})
    for (const std::uint64_t first : {0ull, 4ull, 0xfffffffcull, 0x123456789abcull, 0xfffffffffff8ull})
      for (const int number : {0, 1, 65535}) {
        const auto attempt = static_cast<std::uint16_t>(number);
        std::uint32_t words[32];
        tagma::random_blocks<8>(key, first, attempt, words);
        for (unsigned b = 0; b < 8; ++b)
          for (unsigned i = 0; i < 4; ++i) CHECK(words[4 * b + i] == tagma::random_block(key, first + b, attempt)[i]);
      }
}
