// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/carried.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace tagma;

carried number(double value) {
  carried_value v;
  v.number = value;
  return carried(std::move(v));
}

carried join(const carried& a, const carried& b) {
  const carried* const parts[] = {&a, &b};
  return carried::join(parts);
}

TEST_CASE("what is carried is shared, not copied") {
  const carried none, one = number(1), same = one;
  CHECK(none.empty());
  CHECK(none.parts().empty());
  CHECK_FALSE(one.empty());
  CHECK(one.value().number == 1);
  CHECK(same.identity() == one.identity());
  CHECK(number(1).identity() != one.identity());
  const carried both = join(one, number(2));
  REQUIRE(both.parts().size() == 2);
  CHECK(both.parts()[0].identity() == one.identity());
  CHECK(both.find(1)->number == 2);
  CHECK(both.find(2) == nullptr);
  CHECK(both.find(-1) == nullptr);
  carried moved = number(3);
  moved = both;
  CHECK(moved.identity() == both.identity());
}

TEST_CASE("a list as long as a program may be is dropped without recursion") {
  carried all = number(0);
  for (int i = 0; i < 1'000'000; ++i) all = join(all, all);
  CHECK_FALSE(all.empty());
}

TEST_CASE("values are gathered by their places") {
  // (a, (b, a)): three places of values would be two.
  const value_place places[] = {{0, 0, 0, "a"}, {0, 0, 1, {}}, {0, 2, 0, {}}, {2, 2, 0, {}}};
  const std::int32_t parts[] = {1, 0, 0, 2};
  const value_places shape_of{places, parts, 3, 2};
  const carried a = number(5), b = number(6);
  const carried found = gather_values(shape_of, join(a, join(b, a)));
  CHECK(found.find(0)->number == 5);
  CHECK(found.find(1)->number == 6);
  CHECK(gather_values(shape_of, join(a, join(b, number(5)))).find(0)->number == 5);
  CHECK_THROWS_WITH(gather_values(shape_of, join(a, join(b, number(7)))), Catch::Matchers::Contains("'a'") &&
                                                                              Catch::Matchers::Contains("5.0") &&
                                                                              Catch::Matchers::Contains("7.0"));
  CHECK_THROWS_AS(gather_values(shape_of, carried{}), error);
  CHECK_THROWS_AS(gather_values(shape_of, join(a, carried{})), error);
  CHECK(gather_values({}, carried{}).parts().empty());
}

TEST_CASE("equal bytes in two places are equal values") {
  const auto three = [](std::byte value) {
    const shared_bytes bytes(3);
    for (std::size_t i = 0; i < 3; ++i) bytes.data()[i] = value;
    return bytes;
  };
  carried_value a, b;
  a.bytes = three(std::byte{1});
  b.bytes = three(std::byte{1});
  CHECK(a == b);
  b.bytes = three(std::byte{2});
  CHECK_FALSE(a == b);
  b.bytes = {};
  CHECK_FALSE(a == b);
}

}  // namespace
