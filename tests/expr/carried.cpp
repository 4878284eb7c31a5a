// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/carried.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace tagma;

carried number(const char& key, double value) {
  carried_value v;
  v.number = value;
  return {&key, std::move(v)};
}

TEST_CASE("values of two expressions are joined by their keys") {
  static const char a = 0, b = 0;
  const carried both = carried::merge(number(a, 1), number(b, 2));
  CHECK(both.find(&a)->number == 1);
  CHECK(both.find(&b)->number == 2);
  CHECK(both.find(&both) == nullptr);
  CHECK(carried::merge(both, number(b, 2)).find(&a)->number == 1);
  CHECK(carried::merge(carried{}, both).find(&b)->number == 2);
  CHECK(carried::merge(both, carried{}).find(&b)->number == 2);
  CHECK_THROWS_AS(carried::merge(both, number(b, 3)), error);
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
