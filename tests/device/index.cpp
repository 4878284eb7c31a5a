// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/index.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace {

using namespace tagma::device;

static_assert(quotient(17, 5) == 3 && quotient(4, 5) == 0);
static_assert(quotient((std::int64_t{1} << 40) + 7, 8) == std::int64_t{1} << 37);
static_assert(quotient((std::int64_t{1} << 32) + 6, 3) == 1431655767 &&
              quotient(std::int64_t{6} << 31, 3) == std::int64_t{1} << 32);
static_assert(quotient(7, (std::int64_t{1} << 32) + 1) == 0 && quotient(0xffffffff, 2) == 0x7fffffff);
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

template <class Index>
std::int64_t second(Index first, Index second) {
  const Index both[] = {first, second};
  return index_at(reinterpret_cast<const std::byte*>(both), tagma::dtype_of<Index>, 1);
}

TEST_CASE("indices are read as the type that they have") {
  CHECK(second<std::int64_t>(1, std::int64_t{1} << 40) == std::int64_t{1} << 40);
  CHECK(second<std::int32_t>(1, -70'000) == -70'000);
  CHECK(second<std::int16_t>(1, -300) == -300);
  CHECK(second<std::int8_t>(1, -3) == -3);
  CHECK(second<std::uint8_t>(1, 200) == 200);
}

}  // namespace
