// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/located.hpp"

#include <catch2/catch.hpp>
#include <string_view>

namespace {

namespace tg = tagma;

struct number : tg::located<number> {
  constexpr explicit number(int n) : value(n) {}
  int value;
};
template <class T>
struct boxed : tg::located<boxed<T>> {
  constexpr explicit boxed(const T& t) : value(t) {}
  const T& value;
};

/// What a call tells of itself: the line, the first value, how many others.
struct told {
  int line, first, others;
  std::string_view file;
};
template <class First, class... Rest>
told tell(tg::located<First> first, const Rest&...) {
  return {first.at().line, static_cast<int>(first.value().value), static_cast<int>(sizeof...(Rest)), first.at().file};
}

TEST_CASE("an argument before a pack knows the line of the call") {
  const told plain = tell(number(7));
  CHECK((plain.line == __LINE__ - 1 && plain.first == 7 && plain.others == 0));
  CHECK(plain.file == std::string_view(__FILE__));
  const number made_before(8);
  const told before = tell(made_before, 1, "two", 3.0);
  CHECK((before.line == __LINE__ - 1 && before.first == 8 && before.others == 3));
  const double value = 9;
  auto box = boxed<double>(value);
  const told again = tell(box, box);
  CHECK((again.line == __LINE__ - 1 && again.first == 9 && again.others == 1));
  const auto deeper = [&](int n) { return tell(boxed<int>(n)); };
  CHECK(deeper(5).line == __LINE__ - 1);
  CHECK(deeper(5).first == 5);
}

}  // namespace
