// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/reduce.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/kernel_call.hpp"
#include "support/naive.hpp"
#include "support/sanitizers.hpp"
#include "tagma/device/cpu/kernel/moments.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
using tg::test::call, tg::test::call_with, tg::test::distance, tg::test::scattered;

/// The shape of `in` without the axes in `mask`, or with extent 1 there.
tg::shape reduced(const tg::shape& in, unsigned mask) {
  tg::shape out;
  for (int i = 0; i < in.rank; ++i)
    if (((mask >> i) & 1) == 0) out.push_back(in[i]);
  return out;
}

template <class T, class Join>
tg::tensor<T> naive_reduce(const tg::tensor<T>& in, unsigned mask, T start, Join join) {
  const tg::shape out = reduced(in.dims(), mask);
  std::vector<double> joined(static_cast<std::size_t>(out.elements()), static_cast<double>(start));
  const tg::shape dims = in.dims();
  const T* element = in.data();
  tg::test::for_each_index(dims, [&](const tg::test::index& i) {
    tg::extent at = 0;
    for (int a = 0; a < dims.rank; ++a)
      if (((mask >> a) & 1) == 0) at = at * dims[a] + i[static_cast<std::size_t>(a)];
    auto& value = joined[static_cast<std::size_t>(at)];
    value = join(value, static_cast<double>(*element++));
  });
  tg::tensor<T> result(out);
  for (std::size_t i = 0; i < joined.size(); ++i) result[static_cast<tg::extent>(i)] = static_cast<T>(joined[i]);
  return result;
}

template <class Op, class T, class Join>
double error_of(const tg::shape& dims, unsigned mask, T start, Join join, double low, double high) {
  const auto in = scattered<T>(dims, low, high);
  tg::tensor<T> out(reduced(dims, mask)), turned(out.dims());
  call<Op>(out, {static_cast<tg::ir::attribute>(mask), 0}, in);
  call_with<Op>({.short_rows = true}, turned, {static_cast<tg::ir::attribute>(mask), 0}, in);
  const auto expected = naive_reduce(in, mask, start, join);
  return std::max(distance(out, expected), distance(turned, expected));
}

const auto add = [](double a, double b) { return a + b; };
const auto times = [](double a, double b) { return a * b; };
const auto larger = [](double a, double b) { return a > b ? a : b; };
const auto smaller = [](double a, double b) { return a < b ? a : b; };

TEST_CASE("every set of axes of odd shapes") {
  const tg::shape shapes[] = {{13},      {5, 7},   {1, 9},   {3, 1, 11}, {4, 5, 6}, {2, 3, 2, 3, 2, 3},
                              {1, 1, 1}, {33, 65}, {2, 0, 3}};
  for (const tg::shape& dims : shapes)
    for (unsigned mask = 1; mask < 1u << dims.rank; ++mask) {
      INFO(tg::to_string(dims) << " over axes " << mask);
      CHECK(error_of<op::sum, float>(dims, mask, 0.0f, add, -1, 1) < 1e-5);
      CHECK(error_of<op::sum, std::int32_t>(dims, mask, 0, add, -9, 9) == 0);
      CHECK(error_of<op::product, double>(dims, mask, 1.0, times, 0.9, 1.1) < 1e-12);
      CHECK(error_of<op::reduce_max, float>(dims, mask, -std::numeric_limits<float>::infinity(), larger, -5, 5) == 0);
      CHECK(error_of<op::reduce_min, std::int8_t>(dims, mask, std::int8_t{127}, smaller, -100, 100) == 0);
    }
}

TEST_CASE("short rows of every length") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (tg::extent n = 1; n <= 34; ++n)
    for (const tg::shape& dims : {tg::shape{7, n}, tg::shape{8, n}, tg::shape{75, n}, tg::shape{3, 2, 9, n}}) {
      const unsigned last = 1u << (dims.rank - 1), mask = dims.rank == 2 ? last : last | 2u;
      INFO(tg::to_string(dims));
      CHECK(error_of<op::sum, float>(dims, mask, 0.0f, add, -1, 1) < 1e-5);
      CHECK(error_of<op::sum, double>(dims, mask, 0.0, add, -1, 1) < 1e-13);
      CHECK(error_of<op::sum, std::int64_t>(dims, mask, 0, add, -9, 9) == 0);
      CHECK(error_of<op::sum, tg::float16>(dims, mask, tg::float16(0.0f), add, -1, 1) < 1e-2);
      CHECK(error_of<op::product, double>(dims, mask, 1.0, times, 0.9, 1.1) < 1e-12);
      CHECK(error_of<op::reduce_max, float>(dims, mask, -infinity, larger, -5, 5) == 0);
      CHECK(error_of<op::reduce_max, tg::bfloat16>(dims, mask, tg::bfloat16(-infinity), larger, -5, 5) == 0);
      CHECK(error_of<op::reduce_min, std::uint8_t>(dims, mask, std::uint8_t{255}, smaller, 0, 250) == 0);
      CHECK(error_of<op::reduce_min, std::int8_t>(dims, mask, std::int8_t{127}, smaller, -100, 100) == 0);
    }
}

TEST_CASE("truth values over every set of axes") {
  const tg::shape shapes[] = {{13}, {5, 7}, {3, 1, 11}, {4, 5, 6}, {2, 3, 2, 3, 2, 3}, {2, 0, 3}, {0, 3}, {3, 0}};
  for (const tg::shape& dims : shapes)
    for (const tg::extent every : {1, 2, 5, 1000}) {
      tg::tensor<bool> in(dims), opposite(dims);
      for (tg::extent i = 0; i < dims.elements(); ++i) in[i] = (i * 7 + 3) % every == 0, opposite[i] = !in[i];
      for (unsigned mask = 1; mask < 1u << dims.rank; ++mask) {
        INFO(tg::to_string(dims) << " over axes " << mask);
        tg::tensor<bool> some(reduced(dims, mask)), none(reduced(dims, mask));
        call<op::any>(some, {static_cast<tg::ir::attribute>(mask), 0}, in);
        call<op::all>(none, {static_cast<tg::ir::attribute>(mask), 0}, opposite);
        const auto expected = naive_reduce(in, mask, false, [](double a, double b) { return a + b > 0 ? 1.0 : 0.0; });
        for (tg::extent i = 0; i < expected.dims().elements(); ++i)
          CHECK((some[i] == expected[i] && none[i] == !expected[i]));
      }
    }
}

TEST_CASE("integers wrap around, whatever the sanitiser thinks of those that do not") {
  for (const tg::extent n : {2, 9, 40}) {
    tg::tensor<std::int32_t> in(tg::shape{n}), out(0);
    std::uint32_t sum = 0, product = 1;
    for (tg::extent i = 0; i < n; ++i) {
      in[i] = std::numeric_limits<std::int32_t>::max() - static_cast<std::int32_t>(2 * i);
      sum += static_cast<std::uint32_t>(in[i]), product *= static_cast<std::uint32_t>(in[i]);
    }
    call<op::sum>(out, {1, 0}, in);
    CHECK(static_cast<std::uint32_t>(out[0]) == sum);
    call<op::product>(out, {1, 0}, in);
    CHECK(static_cast<std::uint32_t>(out[0]) == product);
  }
}

TEST_CASE("a scalar and an axis of one element are themselves") {
  tg::tensor<float> out(0.0f);
  call<op::sum>(out, {0, 0}, tg::tensor<float>(3.5f));
  CHECK(out[0] == 3.5f);
  call<op::reduce_max>(out, {1, 0}, tg::tensor<float>(tg::shape{1}, {-2}));
  CHECK(out[0] == -2);
}

TEST_CASE("long sums keep their digits") {
  tg::tensor<float> tenth(tg::shape{1 << 20});
  for (float& v : tenth.span()) v = 0.1f;
  tg::tensor<float> out(0.0f);
  call<op::sum>(out, {1, 0}, tenth);
  CHECK(out[0] == Approx(104857.6).epsilon(1e-6));
}

TEST_CASE("16-bit floats are summed in float") {
  tg::tensor<tg::bfloat16> ones(tg::shape{1000});
  for (auto& v : ones.span()) v = tg::bfloat16(1.0f);
  tg::tensor<tg::bfloat16> out{tg::shape{}};
  call<op::sum>(out, {1, 0}, ones);
  CHECK(static_cast<float>(out[0]) == 1000);
}

TEMPLATE_TEST_CASE("threads share what is large and do not change the bytes", "", float, double, std::int32_t) {
  const tg::shape shapes[] = {{300, 1111},   {90000, 3},      {3, 90000},           {1 << 18},      {7, 130, 301},
                              {301, 130, 7}, {40, 3, 40, 33}, {2, 3, 2, 9, 2, 701}, {1000, 1, 257}, {33000, 1, 2},
                              {65, 1009},    {9, 400, 30},    {20000, 31}};
  const std::vector<int> counts = tagma::test::is_sanitized ? std::vector{3} : std::vector{2, 3, 7};
  for (const tg::shape& dims : shapes) {
    const auto in = scattered<TestType>(dims, -1, 1);
    for (unsigned mask = 1; mask < 1u << dims.rank; ++mask) {
      INFO(tg::to_string(dims) << " over axes " << mask);
      const auto axes = static_cast<tg::ir::attribute>(mask);
      const auto expected = naive_reduce(in, mask, TestType{}, add);
      for (const bool short_rows : {false, true}) {
        tg::tensor<TestType> one(reduced(dims, mask)), many(one.dims());
        call_with<op::sum>({.threads = 1, .short_rows = short_rows}, one, {axes, 0}, in);
        CHECK(distance(one, expected) < 2e-5);
        for (const int threads : counts) {
          call_with<op::sum>({.threads = threads, .short_rows = short_rows}, many, {axes, 0}, in);
          CHECK(std::memcmp(one.data(), many.data(), one.size() * sizeof(TestType)) == 0);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("threads do not change which of two zeros is the extreme of a column, nor what NaN", "", float,
                   double, tg::float16, tg::bfloat16) {
  using T = TestType;
  std::mt19937 random(5);
  for (const tg::extent columns : {292, 300, 1028}) {
    tg::tensor<T> in(tg::shape{2000, columns});
    for (T& v : in.span()) v = static_cast<T>(random() % 2 == 0 ? 0.0f : -0.0f);
    for (tg::extent c = 3; c < columns; c += 31)
      in[static_cast<tg::extent>(random() % 2000) * columns + c] =
          static_cast<T>(-std::numeric_limits<float>::quiet_NaN());
    const auto same = [&](auto operation, int threads) {
      using op_type = decltype(operation);
      tg::tensor<T> one(tg::shape{columns}), several(one.dims());
      call_with<op_type>({.threads = 1}, one, {1, 0}, in);
      call_with<op_type>({.threads = threads}, several, {1, 0}, in);
      return std::memcmp(one.data(), several.data(), sizeof(T) * one.span().size()) == 0;
    };
    for (const int threads : {2, 3, 7}) {
      CAPTURE(columns, threads);
      CHECK(same(op::reduce_max{}, threads));
      CHECK(same(op::reduce_min{}, threads));
    }
  }
}

TEMPLATE_TEST_CASE("a NaN of a column is found wherever it is, and no other column sees it", "", float, tg::bfloat16) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const tg::extent columns : {1, 7, 8, 10, 31, 33, 45})
    for (const tg::extent rows : {1, 15, 127, 128, 301}) {
      INFO(rows << " rows of " << columns);
      auto in = scattered<TestType>({rows, columns}, -5, 5, static_cast<std::uint64_t>(rows * columns));
      const tg::extent row = (rows * 7 + columns) % rows, column = rows % columns;
      in[row * columns + column] = TestType(nan);
      tg::tensor<TestType> highest(tg::shape{columns}), lowest(highest.dims()), sum(highest.dims());
      call<op::reduce_max>(highest, {1, 0}, in);
      call<op::reduce_min>(lowest, {1, 0}, in);
      call<op::sum>(sum, {1, 0}, in);
      for (tg::extent c = 0; c < columns; ++c) {
        float top = static_cast<float>(in[c]), bottom = top;
        for (tg::extent r = 1; r < rows; ++r) {
          const auto v = static_cast<float>(in[r * columns + c]);
          top = v > top ? v : top, bottom = v < bottom ? v : bottom;
        }
        if (c == column) {
          CHECK(static_cast<float>(highest[c]) != static_cast<float>(highest[c]));
          CHECK(static_cast<float>(lowest[c]) != static_cast<float>(lowest[c]));
          CHECK(static_cast<float>(sum[c]) != static_cast<float>(sum[c]));
        } else {
          CHECK((static_cast<float>(highest[c]) == top && static_cast<float>(lowest[c]) == bottom));
          CHECK(static_cast<float>(sum[c]) == static_cast<float>(sum[c]));
        }
      }
    }
}

TEMPLATE_TEST_CASE("a NaN of a row is found wherever it is, and no other row sees it", "", float, double,
                   tg::bfloat16) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const tg::extent columns : {1, 7, 8, 9, 31, 32, 33, 40, 65, 100}) {
    auto in = scattered<TestType>({4, columns}, -5, 5, static_cast<std::uint64_t>(columns));
    in[2 * columns + columns / 2] = TestType(infinity);
    in[2 * columns + columns / 3] = TestType(-infinity);
    for (tg::extent at = 0; at < columns; ++at) {
      INFO(columns << " columns, a NaN at " << at);
      auto with_nan = in;
      with_nan[columns + at] = TestType(nan);
      tg::tensor<TestType> highest(tg::shape{4}), lowest(tg::shape{4});
      call<op::reduce_max>(highest, {2, 0}, with_nan);
      call<op::reduce_min>(lowest, {2, 0}, with_nan);
      for (tg::extent r = 0; r < 4; ++r) {
        const TestType* const row = with_nan.data() + r * columns;
        const auto [bottom, top] = std::minmax_element(
            row, row + columns, [](TestType a, TestType b) { return static_cast<double>(a) < static_cast<double>(b); });
        const auto high = static_cast<double>(highest[r]), low = static_cast<double>(lowest[r]);
        CHECK((r == 1 ? std::isnan(high) : high == static_cast<double>(*top)));
        CHECK((r == 1 ? std::isnan(low) : low == static_cast<double>(*bottom)));
      }
    }
  }
}

TEST_CASE("moments of rows and columns of random extents, far from zero") {
  std::mt19937 random(5);
  const auto below = [&random](unsigned n) { return static_cast<tg::extent>(random() % n); };
  for (int round = 0; round < 40; ++round) {
    const bool by_rows = round % 2 == 1;
    const tg::extent rows = below(round % 8 < 2 ? 3000 : 70) + 1, columns = below(90) + 1;
    const tg::extent results = by_rows ? rows : columns, n = by_rows ? columns : rows;
    INFO("round " << round << ": " << rows << " rows of " << columns << ", axis " << by_rows);
    const auto x = scattered<float>({rows, columns}, 99, 101, random());
    tg::tensor<float> mean(tg::shape{results}), variance(tg::shape{results});
    tg::test::call_for_two<op::moments>(&mean, &variance, {by_rows ? 2 : 1, 0}, x);
    double worst = 0;
    for (tg::extent i = 0; i < results; ++i) {
      const auto element = [&](tg::extent k) { return static_cast<double>(by_rows ? x(i, k) : x(k, i)); };
      double m = 0, v = 0;
      for (tg::extent k = 0; k < n; ++k) m += element(k) / static_cast<double>(n);
      for (tg::extent k = 0; k < n; ++k) v += (element(k) - m) * (element(k) - m) / static_cast<double>(n);
      worst = std::fmax(worst, std::fabs(static_cast<double>(mean[i]) - m) / 100);
      worst = std::fmax(worst, std::fabs(static_cast<double>(variance[i]) - v));
    }
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("positions of extremes, the first of equals, along any axis") {
  const tg::tensor<float> in(tg::shape{2, 3}, {1, 7, 7, 4, -1, -1});
  tg::tensor<std::int64_t> rows(tg::shape{2}), columns(tg::shape{3});
  call<op::argmax>(rows, {2, 0}, in);
  CHECK((rows[0] == 1 && rows[1] == 0));
  call<op::argmin>(rows, {2, 0}, in);
  CHECK((rows[0] == 0 && rows[1] == 1));
  call<op::argmax>(columns, {1, 0}, in);
  CHECK((columns[0] == 1 && columns[1] == 0 && columns[2] == 0));
  tg::tensor<std::int64_t> none(tg::shape{2});
  CHECK_THROWS_WITH(call<op::argmax>(none, {2, 0}, tg::tensor<float>(tg::shape{2, 0})),
                    Catch::Contains("no extreme of no elements"));
}

TEMPLATE_TEST_CASE("the first NaN is the extreme", "", float, double, tg::float16, tg::bfloat16) {
  const auto number = [](float v) { return static_cast<TestType>(v); };
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const tg::tensor<TestType> in(tg::shape{3, 3}, {number(infinity), number(nan), number(nan), number(nan), number(1),
                                                  number(9), number(-infinity), number(2), number(nan)});
  tg::tensor<std::int64_t> rows(tg::shape{3}), columns(tg::shape{3});
  const auto check = [&](auto operation) {
    call<decltype(operation)>(rows, {2, 0}, in);
    CHECK((rows[0] == 1 && rows[1] == 0 && rows[2] == 2));
    call<decltype(operation)>(columns, {1, 0}, in);
    CHECK((columns[0] == 1 && columns[1] == 0 && columns[2] == 0));
  };
  check(op::argmax{});
  check(op::argmin{});
}

TEST_CASE("positions of extremes along any axis of random extents, with zeros of both signs, infinities and NaN") {
  std::mt19937 random(7);
  const auto below = [&random](unsigned n) { return static_cast<tg::extent>(random() % n); };
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {0.0f, -0.0f, 1, -1, 2.5f, -2.5f, infinity, -infinity, 3e38f, -3e38f, nan, -nan};
  for (int round = 0; round < 150; ++round) {
    const int axis = round % 3;
    tg::shape dims{below(9) + 1, below(9) + 1, below(9) + 1};
    if (round % 5 == 0) dims[(axis + 1) % 3] = below(2000) + 1;
    if (round % 7 == 0) dims[axis] = below(300) + 1;
    INFO("round " << round << ": axis " << axis << " of " << tg::to_string(dims));
    tg::tensor<float> x(dims);
    const unsigned kinds = round % 4 == 0 ? 12 : round % 4 == 1 ? 10 : round % 4 == 2 ? 8 : 6;
    for (float& v : x.span()) v = values[below(kinds)];
    if (round % 4 == 2)
      for (tg::extent i = below(50); i < dims.elements(); i += 50) x[i] = nan;
    const tg::extent n = dims[axis], inner = dims.elements(axis + 1, 3), outer = dims.elements(0, axis);
    for (const bool largest : {true, false})
      for (const int threads : {1, 3}) {
        tg::tensor<std::int64_t> out(tg::shape{outer * inner});
        const std::vector<tg::ir::attribute> attributes{1 << axis, 0};
        largest ? tg::test::call_with<op::argmax>({.threads = threads}, out, attributes, x)
                : tg::test::call_with<op::argmin>({.threads = threads}, out, attributes, x);
        bool right = true;
        for (tg::extent r = 0; r < outer * inner; ++r) {
          const tg::extent first = r / inner * n * inner + r % inner;
          tg::extent best = 0;
          for (tg::extent k = 1; k < n; ++k) {
            const float a = x[first + k * inner], b = x[first + best * inner];
            if (b == b && (a != a || (largest ? a > b : a < b))) best = k;
          }
          right = right && out[r] == best;
        }
        CHECK(right);
      }
  }
}

TEMPLATE_TEST_CASE("extremes of long rows, whatever the threads", "", float, double, std::int32_t, tg::bfloat16) {
  using T = TestType;
  for (const tg::extent n : {1, 7, 31, 32, 33, 300}) {
    auto in = scattered<float>({2000, n}, -100, 100, 3);
    for (float& v : in.span()) v = static_cast<float>(static_cast<int>(v));  // many are equal
    if constexpr (!std::is_same_v<T, std::int32_t>)
      for (tg::extent row = 0; row < 2000; row += 7) in[row * n + row % n] = std::numeric_limits<float>::quiet_NaN();
    tg::tensor<T> x(in.dims());
    for (tg::extent i = 0; i < 2000 * n; ++i) x[i] = static_cast<T>(in[i]);
    for (const bool largest : {true, false}) {
      tg::tensor<std::int64_t> one(tg::shape{2000}), three(one.dims());
      for (const int threads : {1, 3}) {
        auto& out = threads == 1 ? one : three;
        largest ? tg::test::call_with<op::argmax>({.threads = threads}, out, {2, 0}, x)
                : tg::test::call_with<op::argmin>({.threads = threads}, out, {2, 0}, x);
      }
      bool all_right = true;
      for (tg::extent row = 0; row < 2000; ++row) {
        tg::extent best = 0;
        for (tg::extent k = 1; k < n; ++k) {
          const float a = in[row * n + k], b = in[row * n + best];
          if (b == b && (a != a || (largest ? a > b : a < b))) best = k;
        }
        all_right = all_right && one[row] == best && three[row] == best;
      }
      CHECK(all_right);
    }
  }
}

TEMPLATE_TEST_CASE("extremes of short rows and of columns, and where they are", "", float, double, tg::float16,
                   std::int8_t, std::uint8_t, std::int16_t, std::int32_t, std::int64_t) {
  using T = TestType;
  constexpr bool has_nan = !std::is_integral_v<T>;
  const float low = std::is_unsigned_v<T> ? 0 : -100;
  for (const tg::extent n : {1, 2, 3, 4, 5, 8, 10, 17, 31, 32, 33, 300})
    for (const tg::extent rows : {1, 7, 8, 9, 31, 45, 300}) {
      const auto steps = scattered<float>({rows, n}, low, 100, 3);
      tg::tensor<T> x(steps.dims());
      for (tg::extent i = 0; i < rows * n; ++i) x[i] = static_cast<T>(std::floor(steps[i] / 8));  // many are equal
      if constexpr (has_nan)
        for (tg::extent i = 5; i < rows * n; i += 97) x[i] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
      tg::tensor<std::int64_t> of_row(tg::shape{rows}), of_column(tg::shape{n});
      tg::tensor<T> value(tg::shape{rows});
      // Where it is among `count` elements, `step` apart.
      const auto expected = [&](bool largest, tg::extent first, tg::extent count, tg::extent step) {
        tg::extent best = 0;
        for (tg::extent k = 1; k < count; ++k) {
          const auto a = static_cast<double>(x[first + k * step]), b = static_cast<double>(x[first + best * step]);
          if (b == b && (a != a || (largest ? a > b : a < b))) best = k;
        }
        return best;
      };
      for (const bool largest : {true, false}) {
        if (largest)
          call<op::argmax>(of_row, {2, 0}, x), call<op::argmax>(of_column, {1, 0}, x);
        else
          call<op::argmin>(of_row, {2, 0}, x), call<op::argmin>(of_column, {1, 0}, x);
        bool right = true;
        for (tg::extent r = 0; r < rows; ++r) right = right && of_row[r] == expected(largest, r * n, n, 1);
        for (tg::extent i = 0; i < n; ++i) right = right && of_column[i] == expected(largest, i, rows, n);
        if (largest)
          call<op::reduce_max>(value, {2, 0}, x);
        else
          call<op::reduce_min>(value, {2, 0}, x);
        for (tg::extent r = 0; r < rows; ++r) {
          const auto v = static_cast<double>(value[r]),
                     e = static_cast<double>(x[r * n + expected(largest, r * n, n, 1)]);
          right = right && (has_nan && e != e ? v != v : v == e);
        }
        CAPTURE(n, rows, largest);
        CHECK(right);
      }
    }
}

TEST_CASE("truth values of short rows") {
  for (tg::extent n = 1; n <= 40; ++n) {
    tg::tensor<bool> in(tg::shape{2 * n + 1, n}), opposite(in.dims());
    for (tg::extent i = 0; i < in.dims().elements(); ++i)
      in[i] = i % (n + 1) == 0 && i / n % 2 == 0, opposite[i] = !in[i];
    tg::tensor<bool> some(tg::shape{2 * n + 1}), every(some.dims());
    call<op::any>(some, {2, 0}, in);
    call<op::all>(every, {2, 0}, opposite);
    bool right = true;
    for (tg::extent r = 0; r <= 2 * n; ++r) {
      const bool has = std::any_of(in.data() + r * n, in.data() + r * n + n, [](bool b) { return b; });
      right = right && some[r] == has && every[r] == !has;
    }
    CAPTURE(n);
    CHECK(right);
  }
}

TEST_CASE("all and any") {
  const tg::tensor<bool> in(tg::shape{2, 3}, {true, true, true, false, true, false});
  tg::tensor<bool> rows(tg::shape{2}), columns(tg::shape{3});
  call<op::all>(rows, {2, 0}, in);
  CHECK((rows[0] && !rows[1]));
  call<op::any>(columns, {1, 0}, in);
  CHECK((columns[0] && columns[1] && columns[2]));
  tg::tensor<bool> whole(false);
  call<op::all>(whole, {1, 0}, tg::tensor<bool>(tg::shape{0}));
  CHECK(whole[0]);
  call<op::any>(whole, {1, 0}, tg::tensor<bool>(tg::shape{0}));
  CHECK_FALSE(whole[0]);
}

}  // namespace
