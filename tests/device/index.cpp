// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/index.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace {

using namespace tagma::device;

static_assert(quotient(17, 5) == 3 && quotient(4, 5) == 0);
static_assert(quotient((std::int64_t{1} << 40) + 7, 8) == std::int64_t{1} << 37);
static_assert(quotient(7, std::int64_t{1} << 40) == 0);
static_assert(quotient(std::int64_t{1} << 62, std::int64_t{1} << 31) == std::int64_t{1} << 31);
static_assert(quotient(0xffffffff, 0xffffffff) == 1);
static_assert(pieces(0, 4) == 0 && pieces(1, 4) == 1 && pieces(4, 4) == 1 && pieces(5, 4) == 2);

TEST_CASE("positions along axes count the last axis first") {
  const std::int64_t extents[] = {2, 3, 4};
  std::int64_t number = 0;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t k = 0; k < 4; ++k, ++number) {
        std::vector<std::int64_t> at(3, -1);
        unravel(number, extents, 3, [&](int axis, std::int64_t p) { at[static_cast<std::size_t>(axis)] = p; });
        CHECK(at == std::vector<std::int64_t>{i, j, k});
      }
  int calls = 0;
  unravel(0, extents, 0, [&](int, std::int64_t) { ++calls; });
  CHECK(calls == 0);
}

}  // namespace
