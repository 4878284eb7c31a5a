// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/ordered.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace tg = tagma;
using tg::device::ordered_word;

namespace {

template <class T>
void check_order(const std::vector<T>& ascending) {
  for (std::size_t i = 0; i + 1 < ascending.size(); ++i)
    CHECK(ordered_word(ascending[i]) < ordered_word(ascending[i + 1]));
}

template <class T>
void check_floats(T tiny, T huge, T infinity, T nan) {
  const auto negative = [](T x) { return T(-static_cast<float>(x)); };
  check_order<T>(
      {negative(infinity), negative(huge), T(-1.0f), negative(tiny), T(0.0f), tiny, T(1.0f), huge, infinity, nan});
  CHECK(ordered_word(T(-0.0f)) == ordered_word(T(0.0f)));
  CHECK(ordered_word(negative(nan)) == ordered_word(nan));
}

}  // namespace

TEST_CASE("words of elements are in the order of the elements") {
  using limits = std::numeric_limits<float>;
  check_floats<float>(limits::denorm_min(), limits::max(), limits::infinity(), limits::quiet_NaN());
  using wide = std::numeric_limits<double>;
  check_order<double>({-wide::infinity(), -wide::max(), -1.0, -wide::denorm_min(), 0.0, wide::denorm_min(), 1.0,
                       std::nextafter(1.0, 2.0), wide::max(), wide::infinity(), wide::quiet_NaN()});
  CHECK(ordered_word(-0.0) == ordered_word(0.0));
  CHECK(ordered_word(-wide::quiet_NaN()) == ordered_word(wide::quiet_NaN()));
  check_floats(tg::float16(0x1p-24f), tg::float16(65504.0f), tg::float16(limits::infinity()),
               tg::float16(limits::quiet_NaN()));
  check_floats(tg::bfloat16(0x1p-126f), tg::bfloat16(0x1p127f), tg::bfloat16(limits::infinity()),
               tg::bfloat16(limits::quiet_NaN()));
  check_order<std::int64_t>({INT64_MIN, -(INT64_C(1) << 32), -1, 0, 1, INT64_C(1) << 32, INT64_MAX});
  check_order<std::int32_t>({INT32_MIN, -1, 0, 1, INT32_MAX});
  check_order<std::int16_t>({-32768, -1, 0, 1, 32767});
  check_order<std::int8_t>({-128, -1, 0, 1, 127});
  check_order<std::uint8_t>({0, 1, 127, 128, 255});
}

TEST_CASE("the word of a position is made of two random words of its own, the lower half first") {
  const tg::random_key key{5, 9, 4};
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto block = tg::random_block(key, i / 2);
    const auto low = static_cast<std::size_t>(i % 2 * 2);
    CHECK(tg::device::order_word(key, i) == (std::uint64_t{block[low + 1]} << 32 | block[low]));
  }
}
