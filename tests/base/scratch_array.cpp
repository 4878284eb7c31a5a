// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/scratch_array.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

namespace {

/// The sum of 0 to `count` - 1, by way of an array of which four elements are at hand.
template <class Count>
constexpr int sum_of(Count count) {
  tagma::scratch_array<int, 4> array(count);
  for (Count i = 0; i < count; ++i) array[i] += static_cast<int>(i);
  int sum = 0;
  for (const int i : array.view()) sum += i;
  return sum;
}
static_assert(sum_of(std::size_t{5}) == 10 && sum_of(std::int16_t{5}) == 10);
static_assert(sum_of(0) == 0 && sum_of(4) == 6 && sum_of(5) == 10 && sum_of(100) == 4950);

}  // namespace

TEST_CASE("a scratch array is as long as asked for and begins with zeros") {
  CHECK(sum_of(4) == 6);
  CHECK(sum_of(100) == 4950);
}
