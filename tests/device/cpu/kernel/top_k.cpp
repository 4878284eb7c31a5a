// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/top_k.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "support/kernel_call.hpp"

namespace tg = tagma;

namespace {

/// Compares with a stable sort, for rows with many equal elements.
template <class T>
void check_top_k(tg::extent n, tg::extent k, tg::extent rows = 3) {
  tg::tensor<T> in(tg::shape{rows, n});
  for (tg::extent i = 0; i < rows * n; ++i) in[i] = T(static_cast<float>(i * 7919 % 41) - 20);
  tg::tensor<std::int64_t> out(tg::shape{rows, k}), alone(tg::shape{rows, k});
  tg::tensor<T> values(tg::shape{rows, k}), only(tg::shape{rows, k});
  tg::test::call_for_two<tg::op::top_k>(&values, &out, {k}, in);
  tg::test::call_for_two<tg::op::top_k, T>(nullptr, &alone, {k}, in);
  tg::test::call_for_two<tg::op::top_k, T, std::int64_t>(&only, nullptr, {k}, in);
  CHECK(alone == out);
  CHECK(only == values);
  for (tg::extent r = 0; r < rows; ++r) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return in(r, a) > in(r, b); });
    CHECK(std::equal(order.begin(), order.begin() + k, out.data() + r * k));
    for (tg::extent i = 0; i < k; ++i) CHECK(values(r, i) == in(r, out(r, i)));
  }
}

}  // namespace

TEST_CASE("top_k agrees with a stable sort, from one element to all of them") {
  for (const tg::extent k : {1, 2, 5, 64, 100}) {
    check_top_k<float>(100, k);
    check_top_k<tg::float16>(100, k);
    check_top_k<std::int8_t>(100, k);
  }
  check_top_k<double>(1, 1);
  check_top_k<std::int64_t>(1000, 10);
}

TEST_CASE("top_k of short rows, however many") {
  for (const tg::extent n : {1, 2, 8, 10, 31, 32, 33})
    for (const tg::extent rows : {1, 5, 8, 13, 300})
      for (const tg::extent k : {tg::extent{1}, n / 2 + 1, n}) {
        check_top_k<float>(n, k, rows);
        check_top_k<tg::float16>(n, k, rows);
        check_top_k<std::int64_t>(n, k, rows);
        check_top_k<double>(n, k, rows);
      }
}

TEST_CASE("top_k of a few of long rows") {
  for (const tg::extent n : {127, 128, 129, 160, 1000, 2047, 2048, 2100, 5000})
    for (const tg::extent k : {1, 8, 15, 16, 17}) {
      check_top_k<float>(n, k);
      check_top_k<double>(n, k);
      check_top_k<std::int32_t>(n, k);
      check_top_k<std::int64_t>(n, k);
    }
}

TEMPLATE_TEST_CASE("top_k of a few of long rows, with NaN, infinities and zeros of both signs", "", float, double) {
  using T = TestType;
  const T nan = static_cast<T>(std::nanf("")), inf = static_cast<T>(INFINITY);
  constexpr tg::extent n = 1003, rows = 6, k = 8;
  tg::tensor<T> in(tg::shape{rows, n});
  for (tg::extent i = 0; i < n; ++i) {
    in(0, i) = i % 200 == 3 ? nan : static_cast<T>(i * 7919 % 997) - T(500);  // fewer than are wanted
    in(1, i) = i % 3 == 0 ? -nan : -inf;
    in(2, i) = i == 1001 ? T(1) : -inf;
    in(3, i) = i % 2 == 0 ? T(0) : -T(0);
    in(4, i) = static_cast<T>(i);
    in(5, i) = i % 32 == 5 ? inf : i % 32 == 6 ? nan : T(-3);
  }
  tg::tensor<std::int64_t> out(tg::shape{rows, k});
  tg::test::call_for_two<tg::op::top_k, T>(nullptr, &out, {k}, in);
  for (tg::extent r = 0; r < rows; ++r) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const T x = in(r, a), y = in(r, b);
      return x > y || (std::isnan(x) && !std::isnan(y));
    });
    INFO(r);
    CHECK(std::equal(order.begin(), order.begin() + k, out.data() + r * k));
  }
}

TEST_CASE("top_k: NaN comes first, infinities stand where they belong") {
  const float nan = std::nanf(""), inf = INFINITY;
  const tg::tensor<float> in(tg::shape{6}, {1, -inf, nan, inf, nan, 2});
  tg::tensor<std::int64_t> out(tg::shape{6});
  tg::test::call_for_two<tg::op::top_k, float>(nullptr, &out, {6}, in);
  CHECK(out == tg::tensor<std::int64_t>(tg::shape{6}, {2, 4, 3, 5, 0, 1}));
}

TEMPLATE_TEST_CASE("top_k of 16-bit floats: as of the same floats, with NaN of both signs and zeros", "", tg::float16,
                   tg::bfloat16) {
  using T = TestType;
  for (const tg::extent n : {8, 15, 16, 17, 40, 1000}) {
    tg::tensor<T> in(tg::shape{4, n});
    tg::tensor<float> wide(in.dims());
    for (tg::extent i = 0; i < 4 * n; ++i) {
      in[i].bits = static_cast<std::uint16_t>(i * 7919 * (i < 2 * n ? 1 : 5) % (i < n ? 65536 : 65521));
      if (i % 11 == 0) in[i].bits = static_cast<std::uint16_t>(i % 2 == 0 ? 0x8000 : 0);
      wide[i] = static_cast<float>(in[i]);
    }
    tg::tensor<std::int64_t> out(tg::shape{4, 8}), expected(out.dims());
    tg::test::call_for_two<tg::op::top_k, T>(nullptr, &out, {8}, in);
    tg::test::call_for_two<tg::op::top_k, float>(nullptr, &expected, {8}, wide);
    INFO(n);
    CHECK(out == expected);
  }
}

TEST_CASE("elements at positions of the last axis are read, and added back") {
  const tg::tensor<float> in(tg::shape{2, 3}, {1, 2, 3, 4, 5, 6});
  const tg::tensor<std::int64_t> at(tg::shape{2, 2}, {2, 0, 1, 1});
  tg::tensor<float> values(tg::shape{2, 2}), back(tg::shape{2, 3});
  tg::test::call<tg::op::gather_last>(values, {}, in, at);
  CHECK(values == tg::tensor<float>(tg::shape{2, 2}, {3, 1, 5, 5}));
  tg::test::call<tg::op::scatter_last>(back, {}, values, at, in);
  CHECK(back == tg::tensor<float>(tg::shape{2, 3}, {1, 0, 3, 0, 10, 0}));
}

TEST_CASE("threads share the rows of many positions, and rows without any") {
  constexpr tg::extent rows = 30'011, n = 5, k = 3;
  tg::tensor<float> in(tg::shape{rows, n}), values(tg::shape{rows, k}), back(tg::shape{rows, n});
  tg::tensor<std::int64_t> at(tg::shape{rows, k});
  for (tg::extent i = 0; i < rows * n; ++i) in[i] = static_cast<float>(i);
  for (tg::extent i = 0; i < rows * k; ++i) at[i] = i * 7919 % n;
  tg::test::call<tg::op::gather_last>(values, {}, in, at);
  tg::test::call<tg::op::scatter_last>(back, {}, values, at, in);
  tg::tensor<float> expected(tg::shape{rows, n});
  tg::extent wrong = 0;
  for (tg::extent i = 0; i < rows * k; ++i) {
    wrong += values[i] == in(i / k, at[i]) ? 0 : 1;
    expected(i / k, at[i]) += values[i];
  }
  CHECK(wrong == 0);
  CHECK(back == expected);

  const tg::tensor<std::int64_t> nowhere(tg::shape{4, 0});
  tg::tensor<float> none(tg::shape{4, 0}), zeros(tg::shape{4, n});
  tg::test::call<tg::op::gather_last>(none, {}, tg::tensor<float>(tg::shape{4, n}), nowhere);
  tg::test::call<tg::op::scatter_last>(zeros, {}, none, nowhere, tg::tensor<float>(tg::shape{4, n}));
  CHECK(zeros == tg::tensor<float>(tg::shape{4, n}));
}

TEST_CASE("positions beyond the last axis are refused before anything is read or written there") {
  const tg::tensor<float> in(tg::shape{2, 3}, {1, 2, 3, 4, 5, 6});
  tg::tensor<float> values(tg::shape{2, 2}, {7, 7, 7, 7}), back(tg::shape{2, 3}, {8, 8, 8, 8, 8, 8});
  const tg::tensor<float> sevens = values, eights = back;
  for (const std::int64_t wrong : {std::int64_t{3}, std::int64_t{-1}}) {
    const tg::tensor<std::int64_t> at(tg::shape{2, 2}, {2, 0, wrong, 1});
    CHECK_THROWS_WITH((tg::test::call<tg::op::gather_last>(values, {}, in, at)), Catch::StartsWith("OutOfRange"));
    CHECK_THROWS_WITH((tg::test::call<tg::op::scatter_last>(back, {}, values, at, in)),
                      Catch::StartsWith("OutOfRange"));
    CHECK(values == sevens);
    CHECK(back == eights);
  }
}

TEMPLATE_TEST_CASE("rows of positions are the same whatever threads share them", "", float, double, tg::float16,
                   tg::bfloat16, std::int8_t, std::int32_t, std::int64_t) {
  using T = TestType;
  using wide = tg::device::compute_t<T>;
  std::mt19937 random(31);
  const auto below = [&random](unsigned n) { return static_cast<tg::extent>(random() % n); };
  std::vector<std::array<tg::extent, 3>> extents{{1, 1, 1}, {1, 50000, 50001}, {70001, 1, 2}, {0, 3, 3}, {5, 0, 3}};
  for (int round = 0; round < 4; ++round) extents.push_back({below(5000) + 1, below(20) + 1, below(20) + 1});
  for (const auto& [rows, n, size] : extents) {
    INFO(rows << " rows of " << n << " positions in an axis of " << size);
    tg::tensor<T> in(tg::shape{rows, size}), values(tg::shape{rows, n}), back(tg::shape{rows, size});
    for (T& v : in.span()) v = T(static_cast<float>(below(100)));
    tg::tensor<std::int64_t> at(tg::shape{rows, n});
    for (std::int64_t& v : at.span()) v = below(static_cast<unsigned>(size));
    tg::tensor<T> expected(values.dims()), sums(in.dims());
    for (tg::extent i = 0; i < rows * n; ++i) {
      expected[i] = in[i / n * size + at[i]];
      T& sum = sums[i / n * size + at[i]];
      sum = T(static_cast<wide>(sum) + static_cast<wide>(expected[i]));
    }
    for (const int threads : {1, 2, 5}) {
      tg::test::call_with<tg::op::gather_last>({.threads = threads}, values, {}, in, at);
      for (T& v : back.span()) v = T(1.0f);
      tg::test::call_with<tg::op::scatter_last>({.threads = threads}, back, {}, values, at, in);
      CHECK(values == expected);
      CHECK(back == sums);
    }
  }
}

TEST_CASE("the first position beyond the last axis is told, whatever threads there are") {
  const tg::tensor<float> in(tg::shape{40'000, 3});
  tg::tensor<float> values(tg::shape{40'000, 2}), back(in.dims());
  tg::tensor<std::int64_t> at(values.dims());
  at[51'002] = -7, at[51'003] = 3, at[79'999] = 4;
  for (const int threads : {1, 4}) {
    CHECK_THROWS_WITH((tg::test::call_with<tg::op::gather_last>({.threads = threads}, values, {}, in, at)),
                      "OutOfRange: index -7 at position 51002 is not below the extent of the axis, 3");
    CHECK_THROWS_WITH((tg::test::call_with<tg::op::scatter_last>({.threads = threads}, back, {}, values, at, in)),
                      "OutOfRange: index -7 at position 51002 is not below the extent of the axis, 3");
  }
}
