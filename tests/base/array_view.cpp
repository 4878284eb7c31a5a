// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/array_view.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <span>
#include <vector>

using tagma::array_view;
using tagma::fixed_array;

namespace {
constexpr int sum(array_view<const int> view) {
  int total = 0;
  for (const int i : view) total += i;
  return total;
}
constexpr fixed_array<int, 4> four{{1, 2, 3, 4}};
static_assert(sum(four) == 10);
static_assert(sum(array_view<const int>(four).subspan(1, 2)) == 5);
static_assert(sum(array_view<const int>(four).subspan(3)) == 4);
static_assert(sum(array_view<const int>(four).first(2)) == 3);
static_assert(array_view<const int>(four).front() == 1 && array_view<const int>(four).back() == 4);
static_assert(fixed_array<int, 0>::size() == 0);

/// Positions and counts as the tables of a plan have them.
template <class Integer>
constexpr bool takes() {
  const array_view<const int> view(four.data(), Integer{4});
  return view[Integer{2}] == 3 && four[Integer{2}] == 3 && view.first(Integer{2}).size() == 2 &&
         view.subspan(Integer{1}).back() == 4 && sum(view.subspan(Integer{1}, Integer{2})) == 5;
}
static_assert(takes<std::int16_t>() && takes<std::int32_t>() && takes<std::int64_t>() && takes<std::size_t>());
static_assert(sum(array_view<const int>(four).subspan(std::size_t{1}, std::int16_t{2})) == 5);
}  // namespace

TEST_CASE("a view is made from everything with data and size") {
  int plain[] = {1, 2};
  CHECK(sum(plain) == 3);
  CHECK(sum(std::vector<int>{3, 4}) == 7);
  CHECK(sum(std::array<int, 2>{5, 6}) == 11);
  CHECK(array_view<int>().empty());
  const array_view<int> view(plain);
  view[1] = 9;
  CHECK(plain[1] == 9);
}

TEST_CASE("a view and a std::span are made from each other") {
  int plain[] = {1, 2, 3};
  const std::span<int> span = array_view<int>(plain);
  CHECK(span.data() == plain);
  CHECK(span.size() == 3);
  CHECK(array_view<const int>(span).end() == plain + 3);
}
