// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/scalar.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace {

namespace tg = tagma;

template <class T>
T stored(double number) {
  std::byte bytes[sizeof(T)];
  tg::runtime::detail::store_scalar(bytes, tg::dtype_of<T>, number);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

TEST_CASE("a number becomes an element of any type, whatever it is") {
  CHECK(stored<std::int64_t>(-2.75) == -2);
  CHECK(stored<std::int64_t>(1e300) == INT64_MAX);
  CHECK(stored<std::int64_t>(-HUGE_VAL) == INT64_MIN);
  CHECK(stored<std::int64_t>(0x1p63) == INT64_MAX);
  CHECK(stored<std::int64_t>(-0x1p63) == INT64_MIN);
  CHECK(stored<int>(NAN) == 0);
  CHECK(stored<std::uint8_t>(200) == 200);
  CHECK(stored<bool>(0.5) == false);
  CHECK(stored<bool>(3) == true);
  CHECK(stored<double>(1e300) == 1e300);
  CHECK(stored<float>(0.5) == 0.5f);
}

}  // namespace
