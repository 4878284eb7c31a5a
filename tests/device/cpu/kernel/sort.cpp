// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/sort.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/kernel_call.hpp"

namespace tg = tagma;

namespace {

/// Whether these are the positions of a row of `n` elements as a stable sort orders them: each stands before the next
/// by its element, or by its position where elements are equal. Then no two are the same, and all are there.
template <class T>
bool is_stable_order(const T* row, const std::int64_t* order, tg::extent n, bool descending) {
  for (tg::extent i = 0; i < n; ++i) {
    if (order[i] < 0 || order[i] >= n) return false;
    if (i == 0) continue;
    const T before = row[order[i - 1]], after = row[order[i]];
    const bool less = descending ? after < before : before < after, equal = before == after;
    if (!(less || (equal && order[i - 1] < order[i]))) return false;
  }
  return true;
}

/// Compares with a stable sort.
/// @param element gives the element of a position
template <class T, class Element>
void check_argsort(tg::extent rows, tg::extent n, int threads, const Element& element) {
  tg::tensor<T> in(tg::shape{rows, n});
  T* next = in.data();
  for (tg::extent i = 0; i < rows * n; ++i) *next++ = element(i);
  for (const bool descending : {false, true}) {
    tg::tensor<std::int64_t> out(tg::shape{rows, n});
    tg::test::call_with<tg::op::argsort>({.threads = threads}, out, {descending}, in);
    tg::extent wrong = 0;
    for (tg::extent r = 0; n > 0 && r < rows; ++r)
      wrong += is_stable_order(in.data() + r * n, out.data() + r * n, n, descending) ? 0 : 1;
    INFO(rows << " rows of " << n << " elements of " << tg::to_string(tg::dtype_of<T>) << ", " << threads << " threads"
              << (descending ? ", the largest first" : ""));
    CHECK(wrong == 0);
  }
}
/// Of rows with many equal elements.
template <class T>
void check_argsort(tg::extent rows, tg::extent n) {
  constexpr tg::extent least = std::is_unsigned_v<T> ? 0 : -20;
  check_argsort<T>(rows, n, 2, [](tg::extent i) { return T(static_cast<float>(i * 7919 % 41 + least)); });
}

}  // namespace

TEST_CASE("argsort agrees with a stable sort, for short rows and long ones") {
  for (const tg::extent n : {1, 2, 31, 32, 33, 1000}) {
    check_argsort<float>(3, n);
    check_argsort<tg::bfloat16>(2, n);
    check_argsort<std::int8_t>(2, n);
    check_argsort<double>(1, n);
  }
  check_argsort<std::int64_t>(2000, 40);  // enough for several threads
  check_argsort<float>(0, 5);
  check_argsort<float>(5, 0);
}

TEST_CASE("argsort of long rows, which threads share, agrees with a stable sort") {
  check_argsort<std::uint8_t>(1, 100'000);
  check_argsort<tg::float16>(1, 131'073);
  const auto bits = [](tg::extent i) {
    return static_cast<std::int32_t>(static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15u >> 29);
  };
  const auto number = [&](tg::extent i) { return static_cast<float>(bits(i)); };
  check_argsort<std::int32_t>(1, 100'003, 3, bits);
  check_argsort<float>(2, 100'003, 3, number);
  check_argsort<float>(3, 100'003, 3, number);                                              // as many rows as parts
  for (const int threads : {16, 40}) check_argsort<float>(1, 20 * 32768, threads, number);  // more than parts at once
}

TEST_CASE("argsort of numbers that need all their bits") {
  constexpr tg::extent n = 5000;
  tg::tensor<std::int64_t> in(tg::shape{n});
  for (tg::extent i = 0; i < n; ++i)
    in[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u);
  tg::tensor<std::int64_t> out(tg::shape{n});
  tg::test::call<tg::op::argsort>(out, {0}, in);
  CHECK(std::is_sorted(out.begin(), out.end(), [&](std::int64_t a, std::int64_t b) { return in[a] < in[b]; }));
  tg::tensor<double> real(tg::shape{n});
  for (tg::extent i = 0; i < n; ++i) real[i] = std::sin(static_cast<double>(i)) * std::pow(10.0, i % 30 - 15);
  tg::test::call<tg::op::argsort>(out, {0}, real);
  CHECK(std::is_sorted(out.begin(), out.end(), [&](std::int64_t a, std::int64_t b) { return real[a] < real[b]; }));
}

TEST_CASE("argsort of words of eight bytes, whatever they have in common") {
  const auto number = [](tg::extent i) { return static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15u >> 1; };
  const auto least = std::numeric_limits<std::int64_t>::min();
  const auto part = [&](tg::extent i) { return static_cast<double>(number(i) % 1'000'003); };
  for (const auto& [rows, n] : {std::pair<tg::extent, tg::extent>{1, 33}, {3, 1000}, {1, 5003}, {1, 100'003}})
    for (const int threads : {1, 3}) {
      const auto check_whole = [&, r = rows, c = n](auto element) {
        check_argsort<std::int64_t>(r, c, threads, element);
      };
      const auto check_real = [&, r = rows, c = n](auto element) { check_argsort<double>(r, c, threads, element); };
      check_whole([&](tg::extent i) { return static_cast<std::int64_t>(number(i)); });
      check_whole([&](tg::extent i) { return static_cast<std::int64_t>(number(i) % 7) - 3; });
      check_whole([](tg::extent) { return std::int64_t{5}; });
      check_whole([&](tg::extent i) { return i % 2 == 0 ? least : -(least + 1); });
      check_whole(
          [&](tg::extent i) { return static_cast<std::int64_t>(number(i) % 1000) + (i % 10 == 0 ? least : 0); });
      check_real(part);
      check_real([&](tg::extent i) { return 1.6e9 + part(i) * 0.07; });                   // close to each other
      check_real([&](tg::extent i) { return i == 5 ? 1e300 : 1 + 1e-12 * part(i); });     // all but one
      check_real([&](tg::extent i) { return i % 2 == 0 ? -0.0 : 1 + 1e-12 * part(i); });  // half of them
      check_real([&](tg::extent i) { return std::exp(part(i) / 10000 - 50); });
      check_real([](tg::extent i) { return static_cast<double>(-i); });
    }
}

TEST_CASE("argsort of rows whose digits have much to do with each other") {
  const auto number = [](tg::extent i) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15u >> 40);
  };
  for (const tg::extent n : {33, 257, 3001}) {
    const auto check = [n](auto element) {
      check_argsort<std::int32_t>(2, n, 1, [&](tg::extent i) { return static_cast<std::int32_t>(element(i)); });
    };
    check([&](tg::extent i) { return number(i) % 256 * 0x01010101u; });
    check([&](tg::extent i) { return number(i) % 200 * 0x01010000u + number(i) % 65536; });
    check([&](tg::extent i) { return number(i) % 16 << 24 | (65535 - static_cast<std::uint32_t>(i)); });
    check_argsort<float>(2, n, 1, [&](tg::extent i) { return static_cast<float>(number(i)) / 16777216.0f - 0.5f; });
  }
}

TEST_CASE("argsort of short rows, however many") {
  for (tg::extent n = 1; n <= 33; ++n)
    for (const tg::extent rows : {1, 3, 4, 7, 8, 9, 100}) {
      check_argsort<float>(rows, n);
      check_argsort<std::int8_t>(rows, n);
      check_argsort<double>(rows, n);
      check_argsort<std::int64_t>(rows, n, 2, [](tg::extent i) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(i / 2 + 1) * 0x9E3779B97F4A7C15u);
      });
    }
}

TEST_CASE("argsort: NaN comes last, infinities stand where they belong, zeros are equal") {
  const float nan = std::nanf(""), inf = INFINITY;
  const tg::tensor<float> in(tg::shape{9}, {1, -inf, nan, inf, -nan, 0.0f, -0.0f, 0.0f, -2});
  tg::tensor<std::int64_t> out(tg::shape{9});
  tg::test::call<tg::op::argsort>(out, {0}, in);
  CHECK(out == tg::tensor<std::int64_t>(tg::shape{9}, {1, 8, 5, 6, 7, 0, 3, 2, 4}));
  tg::test::call<tg::op::argsort>(out, {1}, in);
  CHECK(out == tg::tensor<std::int64_t>(tg::shape{9}, {2, 4, 3, 0, 5, 6, 7, 8, 1}));
}

TEST_CASE("argsort of doubles with NaN, in long rows and in many short ones") {
  for (const auto& [rows, n] : {std::pair<tg::extent, tg::extent>{2, 500}, {40, 10}}) {
    tg::tensor<double> in(tg::shape{rows, n});
    for (tg::extent i = 0; i < rows * n; ++i)
      in[i] = i % 9 == 0   ? (i % 2 == 0 ? NAN : -NAN)
              : i % 7 == 0 ? -0.0
              : i % 5 == 0 ? 0.0
                           : std::sin(static_cast<double>(i));
    for (const bool descending : {false, true}) {
      tg::tensor<std::int64_t> out(tg::shape{rows, n});
      tg::test::call<tg::op::argsort>(out, {descending}, in);
      std::vector<std::int64_t> order(static_cast<std::size_t>(n));
      for (tg::extent r = 0; r < rows; ++r) {
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&, row = r](std::int64_t a, std::int64_t b) {
          const double x = in(row, descending ? b : a), y = in(row, descending ? a : b);
          return x < y || (std::isnan(y) && !std::isnan(x));
        });
        CHECK(std::equal(order.begin(), order.end(), out.data() + r * n));
      }
    }
  }
}

TEST_CASE("one element that differs in a byte which all others share finds its place") {
  for (const tg::extent at : {0, 7, 49}) {
    tg::tensor<std::int32_t> in(tg::shape{50});
    for (tg::extent i = 0; i < 50; ++i) in[i] = static_cast<std::int32_t>(i);
    for (const std::int32_t largest : {256, 65536 + 3, 1 << 24}) {
      in[at] = largest;
      tg::tensor<std::int64_t> out(tg::shape{50});
      tg::test::call<tg::op::argsort>(out, {false}, in);
      CHECK(out[49] == at);
      CHECK(out[0] == (at == 0 ? 1 : 0));
    }
  }
}
