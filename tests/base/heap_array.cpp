// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/heap_array.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

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
