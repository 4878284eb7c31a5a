// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/initial_numbers.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("uniform initial values by vectors are those of their number, bit for bit") {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 200; ++round) {
    const tg::random_key key{random(), static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
    // Also where the number of a block needs more than 32 bits.
    const std::uint64_t first = round % 4 == 0 ? 0xffffffffu - random() % 64 : random() % (std::uint64_t{1} << 48);
    const double a = round % 3 == 0 ? -0.25 : -static_cast<double>(random() % 1000) / 7, b = -a / (round % 5 + 1);
    std::vector<float> x(random() % 70, 77.F);
    const std::int64_t written =
        tg::runtime::write_uniform(x.data(), a, b, key, first, static_cast<std::int64_t>(x.size()));
    REQUIRE(written <= static_cast<std::int64_t>(x.size()));
    REQUIRE(written + 8 > static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO("round " << round << ", element " << i << " of " << x.size());
      if (static_cast<std::int64_t>(i) >= written)
        REQUIRE(x[i] == 77.F);
      else
        REQUIRE(x[i] ==
                static_cast<float>(tg::runtime::initial_number(tg::initializer_kind::uniform, key, first + i, a, b)));
    }
  }
}
