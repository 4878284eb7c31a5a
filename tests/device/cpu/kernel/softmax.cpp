// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/softmax.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/kernel_call.hpp"
#include "support/naive.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
using tg::test::call, tg::test::distance, tg::test::scattered;

double log_sum(const double* x, tg::extent n) {
  double top = x[0], sum = 0;
  for (tg::extent i = 0; i < n; ++i) top = std::fmax(top, x[i]);
  for (tg::extent i = 0; i < n; ++i) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

TEST_CASE("rows of every length, also far from zero") {
  for (const tg::extent n : {1, 2, 7, 8, 9, 33})
    for (const double shift : {0.0, 1000.0, -1000.0}) {
      const auto x = scattered<double>({3, n}, shift - 5, shift + 5);
      tg::tensor<double> soft(x.dims()), logs(x.dims()), soft_expected(x.dims()), logs_expected(x.dims());
      call<op::softmax>(soft, {}, x);
      call<op::log_softmax>(logs, {}, x);
      for (tg::extent r = 0; r < 3; ++r)
        for (tg::extent i = 0; i < n; ++i) {
          logs_expected[r * n + i] = x[r * n + i] - log_sum(x.data() + r * n, n);
          soft_expected[r * n + i] = std::exp(logs_expected[r * n + i]);
        }
      CHECK(distance(soft, soft_expected) < 1e-12);
      CHECK(distance(logs, logs_expected) < 1e-12);
    }
}

TEST_CASE("rows of random extents agree with a plain sum, and a NaN is of its row alone") {
  std::mt19937 random(17);
  const auto below = [&random](unsigned n) { return static_cast<tg::extent>(random() % n); };
  for (int round = 0; round < 40; ++round) {
    const tg::extent rows = below(20) + 1, n = below(round % 2 == 0 ? 12 : 150) + 1;
    const tg::extent bad = below(20) % rows;
    INFO("round " << round << ": " << rows << " rows of " << n);
    auto x = scattered<float>({rows, n}, -20, 20, random());
    x[bad * n + below(150) % n] = std::numeric_limits<float>::quiet_NaN();
    tg::tensor<float> soft(x.dims()), logs(x.dims());
    call<op::softmax>(soft, {}, x);
    call<op::log_softmax>(logs, {}, x);
    double worst = 0;
    int numbers = 0;
    for (tg::extent r = 0; r < rows; ++r) {
      std::vector<double> row(x.data() + r * n, x.data() + (r + 1) * n);
      const double sum = log_sum(row.data(), n);
      for (tg::extent i = 0; i < n; ++i) {
        const auto p = static_cast<double>(soft[r * n + i]), l = static_cast<double>(logs[r * n + i]);
        const double exact = row[static_cast<std::size_t>(i)] - sum;
        if (r == bad)
          numbers += !std::isnan(p) || !std::isnan(l);
        else
          worst = std::fmax(
              worst, std::isnan(p + l) ? 1 : std::fmax(std::fabs(p - std::exp(exact)), std::fabs(l - exact) / 40));
      }
    }
    CHECK(numbers == 0);
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("many rows are shared by threads, and threads do not change the bytes") {
  const auto x = scattered<float>({5000, 11}, -9, 9);
  tg::tensor<float> one(x.dims()), four(x.dims());
  tg::test::call_with<op::softmax>({.threads = 1}, one, {}, x);
  tg::test::call_with<op::softmax>({.threads = 4}, four, {}, x);
  CHECK(std::equal(one.span().begin(), one.span().end(), four.span().begin()));
  for (tg::extent r = 0; r < 5000; r += 613) {
    double total = 0;
    for (tg::extent i = 0; i < 11; ++i) total += static_cast<double>(one[r * 11 + i]);
    CHECK(total == Approx(1).epsilon(1e-5));
  }
}

TEMPLATE_TEST_CASE("short rows next to others have the bytes of rows by themselves", "", float, double, tg::float16,
                   tg::bfloat16) {
  using T = TestType;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  constexpr tg::extent rows = 21;
  for (tg::extent n = 1; n <= 34; ++n) {
    CAPTURE(n);
    auto x = scattered<T>({rows, n}, -9, 9, static_cast<unsigned>(n));
    x[3 * n] = x[11 * n + n - 1] = T(-inf), x[5 * n + n / 2] = T(nan), x[6 * n + n - 1] = T(inf);
    const auto upstream = scattered<T>({rows}, -2, 2, 3);
    tg::tensor<std::int32_t> y(tg::shape{rows});
    for (tg::extent r = 0; r < rows; ++r) y[r] = static_cast<std::int32_t>(r % n);
    tg::tensor<T> soft(x.dims()), logs(x.dims()), entropy(tg::shape{rows}), slope(x.dims());
    call<op::softmax>(soft, {}, x);
    call<op::log_softmax>(logs, {}, x);
    call<op::sparse_softmax_cross_entropy>(entropy, {}, x, y);
    call<op::sparse_softmax_cross_entropy_gradient>(slope, {}, x, y, upstream);
    const auto same = [](const T* a, const T* b, tg::extent count) {
      for (tg::extent i = 0; i < count; ++i) {
        const auto p = static_cast<double>(a[i]), q = static_cast<double>(b[i]);
        if (std::isnan(p) ? !std::isnan(q) : std::memcmp(a + i, b + i, sizeof(T)) != 0) return false;
      }
      return true;
    };
    bool equal = true;
    for (tg::extent r = 0; r < rows; ++r) {
      tg::tensor<T> row(tg::shape{1, n}), out(tg::shape{1, n}), of_row(tg::shape{1}), up(tg::shape{1}, {upstream[r]});
      const tg::tensor<std::int32_t> label(tg::shape{1}, {y[r]});
      std::copy_n(x.data() + r * n, n, row.data());
      call<op::softmax>(out, {}, row);
      equal = equal && same(out.data(), soft.data() + r * n, n);
      call<op::log_softmax>(out, {}, row);
      equal = equal && same(out.data(), logs.data() + r * n, n);
      call<op::sparse_softmax_cross_entropy>(of_row, {}, row, label);
      equal = equal && same(of_row.data(), entropy.data() + r, 1);
      call<op::sparse_softmax_cross_entropy_gradient>(out, {}, row, label, up);
      equal = equal && same(out.data(), slope.data() + r * n, n);
    }
    CHECK(equal);
    call<op::softmax>(x, {}, x);  // in its place
    CHECK(same(x.data(), soft.data(), rows * n));
  }
}

TEMPLATE_TEST_CASE("cross entropy with a class, and its gradient", "", std::uint8_t, std::int32_t, std::int64_t) {
  using Label = TestType;
  const auto x = scattered<double>({4, 9}, -3, 3);
  const tg::tensor<Label> y(tg::shape{4}, {0, 8, 3, 3});
  const tg::tensor<double> upstream(tg::shape{4}, {1, 2, 0, -1});
  tg::tensor<double> entropy(tg::shape{4}), slope(x.dims());
  call<op::sparse_softmax_cross_entropy>(entropy, {}, x, y);
  call<op::sparse_softmax_cross_entropy_gradient>(slope, {}, x, y, upstream);
  for (tg::extent r = 0; r < 4; ++r) {
    const double sum = log_sum(x.data() + r * 9, 9);
    const auto label = static_cast<tg::extent>(y[r]);
    CHECK(entropy[r] == Approx(sum - x[r * 9 + label]).epsilon(1e-12));
    for (tg::extent i = 0; i < 9; ++i)
      CHECK(slope[r * 9 + i] == Approx(upstream[r] * (std::exp(x[r * 9 + i] - sum) - (i == label))).margin(1e-12));
  }
}

TEMPLATE_TEST_CASE("what is masked is zero, and a NaN makes its whole row one", "", float, double, tg::bfloat16) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::mt19937 random(5);
  for (const tg::extent n : {2, 7, 8, 9, 31, 40, 65, 200}) {
    auto x = scattered<TestType>({3, n}, -20, 20, random());
    const auto masked = static_cast<tg::extent>(random() % static_cast<unsigned>(n));
    const auto bad = static_cast<tg::extent>(random() % static_cast<unsigned>(n));
    x[masked] = TestType(-inf);
    x[n + bad] = TestType(nan);
    for (tg::extent i = 0; i < n; ++i) x[2 * n + i] = TestType(-inf);
    x[2 * n + bad] = TestType(-3.0f);
    INFO(n << " columns, " << masked << " masked, " << bad << " no number");
    const tg::tensor<std::int32_t> y(tg::shape{3}, {0, 0, static_cast<std::int32_t>(bad)});
    const tg::tensor<TestType> upstream(tg::shape{3}, {TestType(1.0f), TestType(1.0f), TestType(1.0f)});
    tg::tensor<TestType> soft(x.dims()), logs(x.dims()), entropy(tg::shape{3}), slope(x.dims());
    call<op::softmax>(soft, {}, x);
    call<op::log_softmax>(logs, {}, x);
    call<op::sparse_softmax_cross_entropy>(entropy, {}, x, y);
    call<op::sparse_softmax_cross_entropy_gradient>(slope, {}, x, y, upstream);
    const auto number = [](const tg::tensor<TestType>& of, tg::extent i) { return static_cast<double>(of[i]); };
    CHECK(number(soft, masked) == 0);
    CHECK(number(logs, masked) == -static_cast<double>(inf));
    for (tg::extent i = 0; i < n; ++i) {
      CHECK(std::isfinite(number(soft, i)));
      CHECK(std::isnan(number(soft, n + i)));
      CHECK(std::isnan(number(logs, n + i)));
      CHECK(std::isnan(number(slope, n + i)));
      CHECK(number(soft, 2 * n + i) == (i == bad ? 1 : 0));
      CHECK(number(slope, 2 * n + i) == 0);
    }
    CHECK(std::isnan(number(entropy, 1)));
    CHECK(number(entropy, 2) == 0);
  }
}

TEMPLATE_TEST_CASE("rows of 16-bit floats are computed in float, and rounded once", "", tg::float16, tg::bfloat16) {
  using T = TestType;
  const double unit = std::is_same_v<T, tg::float16> ? 0x1p-11 : 0x1p-8;
  for (const tg::extent n : {17, 31, 32, 33, 300, 1000, 4096, 4100}) {
    tg::tensor<T> x(tg::shape{3, n}), soft(x.dims()), logs(x.dims());
    for (tg::extent i = 0; i < 3 * n; ++i) x[i] = T(static_cast<float>(i * 7919 % 1009) / 100 - 5);
    call<op::softmax>(soft, {}, x);
    call<op::log_softmax>(logs, {}, x);
    double worst = 0;
    for (tg::extent r = 0; r < 3; ++r) {
      double sum = 0, top = -100;
      for (tg::extent i = 0; i < n; ++i) top = std::fmax(top, static_cast<double>(static_cast<float>(x(r, i))));
      for (tg::extent i = 0; i < n; ++i) sum += std::exp(static_cast<double>(static_cast<float>(x(r, i))) - top);
      for (tg::extent i = 0; i < n; ++i) {
        const double v = static_cast<double>(static_cast<float>(x(r, i))) - top, e = std::exp(v) / sum,
                     l = v - std::log(sum);
        worst = std::fmax(
            worst, std::abs(static_cast<double>(static_cast<float>(soft(r, i))) - e) - unit * 1.01 * e - 0x1p-24);
        worst = std::fmax(worst,
                          std::abs(static_cast<double>(static_cast<float>(logs(r, i))) - l) - unit * 1.01 * -l - 1e-5);
      }
    }
    INFO(n);
    CHECK(worst <= 0);
  }
}

#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))
TEMPLATE_TEST_CASE("sums of a row are the same whatever the vectors of its exponentials", "", float, double) {
  using T = TestType;
  using loops = tg::device::cpu::detail::sums_of_wide_row<T>;
  for (const std::int64_t n : {1, 15, 16, 17, 100, 1000}) {
    std::vector<T> x(static_cast<std::size_t>(n)), kept(x.size()), narrow(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 7919 % 1009) / 100;
    T top = 0, total = 0, other_top = 0, other_total = 0;
    tg::device::cpu::dispatch<loops>(static_cast<const T*>(x.data()), n, &top, &total, kept.data());
    tg::device::cpu::run_v3<loops>(static_cast<const T*>(x.data()), n, &other_top, &other_total, narrow.data());
    CHECK(std::memcmp(&total, &other_total, sizeof total) == 0);
    CHECK(std::memcmp(&top, &other_top, sizeof top) == 0);
    CHECK(std::memcmp(kept.data(), narrow.data(), sizeof(T) * kept.size()) == 0);
  }
}
#endif

TEMPLATE_TEST_CASE("rows with labels have the bytes of rows by themselves, whatever threads share them", "", float,
                   double, tg::float16) {
  using T = TestType;
  std::mt19937 random(94);
  const auto below = [&random](unsigned n) { return static_cast<tg::extent>(random() % n); };
  std::vector<std::array<tg::extent, 2>> extents{{0, 4}, {1, 9000}, {9, 4097}, {3000, 1}, {1001, 33}};
  for (int round = 0; round < 6; ++round) extents.push_back({below(2000) + 1, below(60) + 1});
  for (const auto& [rows, n] : extents) {
    INFO(rows << " rows of " << n);
    const auto x = scattered<T>({rows, n}, -5, 5), upstream = scattered<T>({rows}, -1, 1);
    tg::tensor<std::int32_t> labels(tg::shape{rows});
    for (std::int32_t& label : labels.span()) label = static_cast<std::int32_t>(below(static_cast<unsigned>(n)));
    tg::tensor<T> entropy(tg::shape{rows}), slope(x.dims()), expected(tg::shape{rows}), expected_slope(x.dims());
    tg::tensor<T> row(tg::shape{1, n}), of_row(tg::shape{1}), up(tg::shape{1}), slope_of_row(tg::shape{1, n});
    tg::tensor<std::int32_t> label(tg::shape{1});
    for (tg::extent r = 0; r < rows; ++r) {
      std::copy_n(x.data() + r * n, n, row.data());
      label[0] = labels[r], up[0] = upstream[r];
      tg::test::call_with<op::sparse_softmax_cross_entropy>({.threads = 1}, of_row, {}, row, label);
      tg::test::call_with<op::sparse_softmax_cross_entropy_gradient>({.threads = 1}, slope_of_row, {}, row, label, up);
      expected[r] = of_row[0];
      std::copy_n(slope_of_row.data(), n, expected_slope.data() + r * n);
    }
    for (const tg::test::call_options options : {tg::test::call_options{.threads = 1},
                                                 {.threads = 2},
                                                 {.threads = 5},
                                                 {.threads = 1, .few = true},
                                                 {.threads = 2, .few = true}}) {
      tg::test::call_with<op::sparse_softmax_cross_entropy>(options, entropy, {}, x, labels);
      tg::test::call_with<op::sparse_softmax_cross_entropy_gradient>(options, slope, {}, x, labels, upstream);
      CHECK(entropy == expected);
      CHECK(slope == expected_slope);
    }
  }
}

TEST_CASE("a label that is no class is refused") {
  const tg::tensor<float> x(tg::shape{2, 3});
  tg::tensor<float> out(tg::shape{2});
  CHECK_THROWS_WITH(call<op::sparse_softmax_cross_entropy>(out, {}, x, tg::tensor<std::int32_t>(tg::shape{2}, {0, -1})),
                    "OutOfRange: label -1 of row 1 is not below the number of classes, 3");
  CHECK_THROWS_AS(call<op::sparse_softmax_cross_entropy>(out, {}, x, tg::tensor<std::int32_t>(tg::shape{2}, {3, 0})),
                  tg::error);
  const tg::tensor<float> many(tg::shape{5000, 7}), up(tg::shape{5000});
  tg::tensor<float> slope(many.dims());
  tg::tensor<std::int64_t> labels(tg::shape{5000});
  labels[4999] = 9, labels[2345] = 7;
  CHECK_THROWS_WITH(call<op::sparse_softmax_cross_entropy_gradient>(slope, {}, many, labels, up),
                    "OutOfRange: label 7 of row 2345 is not below the number of classes, 7");
}

TEST_CASE("no rows and no classes") {
  tg::tensor<float> none(tg::shape{0, 5}), empty(tg::shape{5, 0});
  CHECK_NOTHROW(call<op::softmax>(none, {}, tg::tensor<float>(tg::shape{0, 5})));
  CHECK_NOTHROW(call<op::softmax>(empty, {}, tg::tensor<float>(tg::shape{5, 0})));
}

}  // namespace
