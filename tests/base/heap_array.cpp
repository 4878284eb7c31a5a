// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/heap_array.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "support/errors.hpp"

TEST_CASE("an array on the heap begins with values and moves") {
  tagma::heap_array<int> numbers(3);
  CHECK(numbers.size() == 3);
  CHECK(numbers[2] == 0);
  numbers[2] = 5;
  tagma::heap_array<int> other = std::move(numbers);
  CHECK(other[2] == 5);
  CHECK(numbers.size() == 0);
  numbers = std::move(other);
  CHECK(numbers[2] == 5);
  int sum = 0;
  for (const int n : numbers) sum += n;
  CHECK(sum == 5);
  const tagma::heap_array<std::string> texts(2);
  CHECK(texts[1].empty());
  CHECK(tagma::heap_array<int>(0).data() == nullptr);
}

TEMPLATE_TEST_CASE("an array on the heap takes positions and lengths of any integer type", "", std::int16_t,
                   std::int32_t, std::int64_t, std::size_t) {
  const tagma::heap_array<int> numbers(TestType{3});
  CHECK(numbers.size() == 3);
  numbers[TestType{2}] = 5;
  CHECK(numbers.data()[2] == 5);
}

TEST_CASE("a length below 0 is more than there is") {
  CHECK(tagma::test::code_of([] { tagma::heap_array<int>(-1); }) == tagma::status_code::resource_exhausted);
}

namespace {

/// Copied byte by byte.
struct plain {
  int first = -1;
  const char* second = "begin";
};

/// Counts those that live.
struct counted {
  counted() { ++alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }
  int number = 7;
  static inline int alive = 0;
};

}  // namespace

TEST_CASE("elements of an array on the heap begin as their type says, and end with it") {
  const tagma::heap_array<plain> plains(3);
  for (const plain& p : plains) CHECK((p.first == -1 && std::string(p.second) == "begin"));
  {
    tagma::heap_array<counted> some(3);
    CHECK(counted::alive == 3);
    for (const counted& c : some) CHECK(c.number == 7);
    some = tagma::heap_array<counted>(2);
    CHECK(counted::alive == 2);
    tagma::heap_array<counted> none;
    none.allocate(4);
    CHECK((none.size() == 4 && none[3].number == 7 && counted::alive == 6));
  }
  CHECK(counted::alive == 0);
  CHECK_THROWS_AS(tagma::heap_array<plain>(PTRDIFF_MAX / 8), tagma::no_memory);
}
