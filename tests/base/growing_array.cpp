// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/growing_array.hpp"

#include <catch2/catch.hpp>

namespace {

using tagma::growing_array;

constexpr int sum_of(int count, std::size_t room) {
  growing_array<int> a(room);
  for (int i = 1; i <= count; ++i) a.push(i);
  int sum = 0;
  for (const int e : a.view()) sum += e;
  for (int i = count; i > count / 2; --i) sum -= a.pop();
  a.push(1000);
  return sum + a[a.size() - 1];
}
static_assert(sum_of(0, 0) == 1000 && sum_of(4, 0) == 1003 && sum_of(100, 3) == 1275 + 1000);

}  // namespace

TEST_CASE("an array grows and keeps what it has") {
  growing_array<int> a(1);
  for (int i = 0; i < 1000; ++i) a.push(i);
  CHECK(a.size() == 1000);
  CHECK((a[0] == 0 && a[999] == 999));
  a.clear();
  CHECK(a.size() == 0);
}
