// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/random.hpp"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

using tagma::philox;
using tagma::philox_block;

// The known answers for philox4x32-10 that the authors of Random123 publish.
TEST_CASE("philox gives the published answers", "[random]") {
  STATIC_REQUIRE(philox(0, 0, {0, 0, 0, 0}) == philox_block{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  STATIC_REQUIRE(philox(0xffffffffu, 0xffffffffu, {0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}) ==
                 philox_block{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  STATIC_REQUIRE(philox(0xa4093822u, 0x299f31d0u, {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}) ==
                 philox_block{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("uniform numbers lie in [0, 1)", "[random]") {
  STATIC_REQUIRE(tagma::uniform01(0u) == 0.0f);
  STATIC_REQUIRE(tagma::uniform01(0xffffffffu) == 1.0f - 0x1p-24f);
  STATIC_REQUIRE(tagma::uniform01(0x80000000u) == 0.5f);
  STATIC_REQUIRE(tagma::uniform01(0u, 0u) == 0.0);
  STATIC_REQUIRE(tagma::uniform01(0xffffffffu, 0xffffffffu) == 1.0 - 0x1p-53);
  STATIC_REQUIRE(tagma::uniform01(0u, 0x80000000u) == 0.5);
  STATIC_REQUIRE(tagma::uniform01(1u << 11, 0u) == 0x1p-53);
  STATIC_REQUIRE(tagma::uniform_below(0xffffffffu, 10) == 9);
  STATIC_REQUIRE(tagma::uniform_below(0, 10) == 0);
}

TEST_CASE("every part of a key names another stream", "[random]") {
  std::set<std::array<std::uint32_t, 4>> seen;
  int drawn = 0;
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (const std::uint32_t stream : {0u, 1u}) {
      for (const std::uint32_t step : {0u, 1u}) {
        for (const std::uint64_t block : {0ull, 1ull, 1ull << 32, 1ull << 47}) {
          for (const std::uint16_t attempt : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{0xffff}}) {
            seen.insert(
                std::bit_cast<std::array<std::uint32_t, 4>>(tagma::random_block({seed, stream, step}, block, attempt)));
            ++drawn;
          }
        }
      }
    }
  }
  CHECK(static_cast<int>(seen.size()) == drawn);
  STATIC_REQUIRE(tagma::random_block({7, 8, 9}, 5) == tagma::random_block({7, 8, 9}, 5, 0));
}

TEST_CASE("uniform numbers have the moments of a uniform distribution", "[random]") {
  double sum = 0, squares = 0;
  constexpr int blocks = 25000;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (const std::uint32_t bits : tagma::random_block({42, 1, 0}, block).words) {
      const double u = static_cast<double>(tagma::uniform01(bits));
      sum += u;
      squares += u * u;
    }
  }
  constexpr double n = 4.0 * blocks;
  CHECK(sum / n == Approx(0.5).margin(0.004));
  CHECK(squares / n == Approx(1.0 / 3).margin(0.004));
}

TEST_CASE("two uniform numbers make a normal one", "[random]") {
  CHECK(tagma::normal_from<double>(0.0, 0.3) == 0);
  const double one = 1 - std::exp(-0.5);  // one deviation from the middle
  CHECK(tagma::normal_from<double>(one, 0.0) == Approx(1));
  CHECK(tagma::normal_from<double>(one, 0.5) == Approx(-1));
  CHECK(tagma::normal_from<double>(one, 0.25) == Approx(0).margin(1e-12));
}
