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
