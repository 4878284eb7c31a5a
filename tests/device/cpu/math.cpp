// SPDX-License-Identifier: BSL-1.0
#define TAGMA_PORTABLE 1
#include "support/accuracy.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

using namespace tagma::test;

template <int W>
struct pow_loop_of {
  template <class T>
  TAGMA_INLINE static void run(T* out, const T* x, const T* y, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 8) cpu::store(out + i, cpu::pow(cpu::load<W>(x + i), cpu::load<W>(y + i)));
  }
};
using pow_loop = cpu::with_wide<pow_loop_of<8>, pow_loop_of<cpu::wide_eight>>;

// The variants of a loop that this machine can run.
std::vector<cpu::level> levels() {
  std::vector<cpu::level> all{cpu::level::baseline};
  for (const auto more : {cpu::level::v3, cpu::level::v4})
    if (cpu::best_level() >= more) all.push_back(more);
  return all;
}
template <class Loop, class T, class... In>
std::vector<T> run_at(cpu::level at, std::int64_t n, const In*... in) {
  std::vector<T> out(static_cast<std::size_t>(n));
#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))
  if constexpr (cpu::has_wide_body<Loop>) {
    if (at == cpu::level::v4) {
      cpu::run_v4<typename Loop::wide, T*, const In*..., std::int64_t>(out.data(), in..., n);
      return out;
    }
  }
  if (at != cpu::level::baseline) {
    cpu::run_v3<Loop, T*, const In*..., std::int64_t>(out.data(), in..., n);
    return out;
  }
#endif
  static_cast<void>(at);
  cpu::run_baseline<Loop, T*, const In*..., std::int64_t>(out.data(), in..., n);
  return out;
}

template <class F, class T>
double worst(T low, T high, int n = 40000) {
  using L = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const auto x = sweep(low, high, n);
  double bad = 0;
  T where = 0;
  std::vector<T> before;
  for (const auto at : levels()) {
    const auto y = run_at<unary_loop<F, T>, T>(at, static_cast<std::int64_t>(x.size()), x.data());
    if (at == cpu::level::v4) CHECK(std::memcmp(y.data(), before.data(), sizeof(T) * y.size()) == 0);
    before = y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double e = ulps(y[i], F::reference(static_cast<L>(x[i])));
      if (e > bad) {
        bad = e;
        where = x[i];
      }
    }
  }
  UNSCOPED_INFO(bad << " ulp at x = " << where);
  return bad;
}

template <class F, class T>
T one(T x) {
  const T result = run_at<unary_loop<F, T>, T>(cpu::level::baseline, 1, &x)[0];
  for (const auto at : levels()) {
    const T other = run_at<unary_loop<F, T>, T>(at, 1, &x)[0];
    CHECK((other == result || (std::isnan(other) && std::isnan(result))));
  }
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("exponentials and logarithms of packs", "[math]", float, double) {
  using T = TestType;
  const bool single = std::is_same_v<T, float>;
  const T low = single ? T(-104) : T(-746), high = single ? T(88.7) : T(709.7);
  const T max = std::numeric_limits<T>::max();
  CHECK(worst<exp_function, T>(low, high) <= 1.0);
  CHECK(worst<exp_of_negative_function, T>(single ? T(-87) : T(-708), T(0)) <= 1.0);
  CHECK(worst<expm1_function, T>(low, high) <= 2.0);
  CHECK(worst<expm1_function, T>(T(-1), T(1)) <= 2.0);
  CHECK(worst<log_function, T>(T(0), T(4)) <= 1.0);
  CHECK(worst<log_function, T>(T(0.5), T(2)) <= 1.0);
  CHECK(worst<log_function, T>(T(0), max) <= 1.0);
  CHECK(worst<log1p_function, T>(T(-1), T(4)) <= 2.0);
  CHECK(worst<log1p_function, T>(T(0), max) <= 2.0);
  CHECK(worst<sigmoid_function, T>(low, -low) <= 3.0);
  CHECK(worst<sigmoid_function, T>(T(-4), T(4)) <= 3.0);
  CHECK(worst<softplus_function, T>(low, -low) <= 3.0);
  CHECK(worst<softplus_function, T>(T(-4), T(4)) <= 3.0);
}

TEMPLATE_TEST_CASE("tanh and erf of packs", "[math]", float, double) {
  using T = TestType;
  CHECK(worst<tanh_function, T>(T(-1), T(1)) <= 3.0);
  CHECK(worst<tanh_function, T>(T(-25), T(25)) <= 3.0);
  // Without one instruction for a product and a sum, floats are rounded once more.
  const double limit = std::is_same_v<T, float> ? 2.75 : 2.0;
  CHECK(worst<erf_function, T>(T(-1.2), T(1.2)) <= limit);
  CHECK(worst<erf_function, T>(T(-7), T(7)) <= limit);
  CHECK(worst<erf_function, T>(T(-4.5), T(4.5), 400000) <= limit);
}

TEMPLATE_TEST_CASE("sine and cosine of packs", "[math]", float, double) {
  using T = TestType;
  CHECK(worst<sin_function, T>(T(-4), T(4)) <= 2.0);
  CHECK(worst<cos_function, T>(T(-4), T(4)) <= 2.0);
  CHECK(worst<sin_function, T>(T(-65536), T(65536)) <= 2.0);
  CHECK(worst<cos_function, T>(T(-65536), T(65536)) <= 2.0);
  CHECK(worst<sin_function, T>(T(0), T(1e18)) <= 2.0);
  CHECK(worst<cos_function, T>(T(0), T(1e18)) <= 2.0);
  // Numbers next to multiples of pi / 2, where the result is nearly lost.
  std::vector<T> x;
  for (int n = 1; n < 6400; ++n) x.push_back(static_cast<T>(n * 1.570796326794896619231321691639751442L));
  using L = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  double bad = 0;
  for (const auto at : levels()) {
    const auto s = run_at<unary_loop<sin_function, T>, T>(at, static_cast<std::int64_t>(x.size()), x.data());
    const auto c = run_at<unary_loop<cos_function, T>, T>(at, static_cast<std::int64_t>(x.size()), x.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      bad = std::max(bad, ulps(s[i], std::sin(static_cast<L>(x[i]))));
      bad = std::max(bad, ulps(c[i], std::cos(static_cast<L>(x[i]))));
    }
  }
  CHECK(bad <= 2.0);
}

TEMPLATE_TEST_CASE("roots, rounding and magnitude of packs", "[math]", float, double) {
  using T = TestType;
  const T max = std::numeric_limits<T>::max();
  CHECK(worst<sqrt_function, T>(T(0), max) <= 0.5);
  CHECK(worst<rsqrt_function, T>(std::numeric_limits<T>::min(), max) <= 2.0);
  for (const T bound : {T(5), T(1e7), max}) {
    CHECK(worst<floor_function, T>(-bound / 2, bound / 2) == 0.0);
    CHECK(worst<ceil_function, T>(-bound / 2, bound / 2) == 0.0);
    CHECK(worst<round_function, T>(-bound / 2, bound / 2) == 0.0);
    CHECK(worst<abs_function, T>(-bound / 2, bound / 2) == 0.0);
  }
  CHECK(one<round_function, T>(T(0.5)) == 0);
  CHECK(one<round_function, T>(T(1.5)) == 2);
  CHECK(one<round_function, T>(T(-2.5)) == -2);
  CHECK(std::signbit(one<ceil_function, T>(T(-0.25))));
}

TEMPLATE_TEST_CASE("special values of packs", "[math]", float, double) {
  using T = TestType;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  CHECK(one<exp_function, T>(-inf) == 0);
  CHECK(one<exp_function, T>(inf) == inf);
  CHECK(one<exp_function, T>(T(0)) == 1);
  CHECK(one<exp_of_negative_function, T>(-inf) == 0);
  CHECK(one<exp_of_negative_function, T>(std::is_same_v<T, float> ? T(-87.01) : T(-708.01)) == 0);
  CHECK(one<exp_of_negative_function, T>(T(0)) == 1);
  CHECK(one<exp_of_negative_function, T>(T(-0.0)) == 1);
  CHECK(std::isnan(one<exp_of_negative_function, T>(nan)));
  CHECK(one<expm1_function, T>(-inf) == -1);
  CHECK(one<expm1_function, T>(inf) == inf);
  CHECK(one<log_function, T>(T(0)) == -inf);
  CHECK(one<log_function, T>(T(-0.0)) == -inf);
  CHECK(one<log_function, T>(T(1)) == 0);
  CHECK(one<log_function, T>(inf) == inf);
  CHECK(std::isnan(one<log_function, T>(T(-1))));
  CHECK(std::isnan(one<log_function, T>(-inf)));
  CHECK(one<log1p_function, T>(T(-1)) == -inf);
  CHECK(one<log1p_function, T>(inf) == inf);
  CHECK(std::isnan(one<log1p_function, T>(T(-2))));
  CHECK(one<tanh_function, T>(inf) == 1);
  CHECK(one<tanh_function, T>(-inf) == -1);
  CHECK(one<sigmoid_function, T>(inf) == 1);
  CHECK(one<sigmoid_function, T>(-inf) == 0);
  CHECK(one<softplus_function, T>(inf) == inf);
  CHECK(one<softplus_function, T>(-inf) == 0);
  CHECK(one<erf_function, T>(inf) == 1);
  CHECK(one<erf_function, T>(-inf) == -1);
  CHECK(std::isnan(one<sin_function, T>(inf)));
  CHECK(std::isnan(one<cos_function, T>(-inf)));
  CHECK(one<sqrt_function, T>(inf) == inf);
  CHECK(std::isnan(one<sqrt_function, T>(T(-1))));
  CHECK(one<floor_function, T>(-inf) == -inf);
  CHECK(std::signbit(one<sin_function, T>(T(-0.0))));
  CHECK(std::signbit(one<tanh_function, T>(T(-0.0))));
  CHECK(std::signbit(one<log1p_function, T>(T(-0.0))));
  CHECK(std::isnan(one<exp_function, T>(nan)));
  CHECK(std::isnan(one<expm1_function, T>(nan)));
  CHECK(std::isnan(one<log_function, T>(nan)));
  CHECK(std::isnan(one<log1p_function, T>(nan)));
  CHECK(std::isnan(one<tanh_function, T>(nan)));
  CHECK(std::isnan(one<sigmoid_function, T>(nan)));
  CHECK(std::isnan(one<softplus_function, T>(nan)));
  CHECK(std::isnan(one<erf_function, T>(nan)));
  CHECK(std::isnan(one<sin_function, T>(nan)));
  CHECK(std::isnan(one<cos_function, T>(nan)));
  CHECK(std::isnan(one<floor_function, T>(nan)));
  CHECK(std::isnan(one<round_function, T>(nan)));
}

TEMPLATE_TEST_CASE("powers of packs", "[math]", float, double) {
  using T = TestType;
  using L = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  SECTION("special values are those of the C library") {
    const T values[] = {T(0), T(-0.0), T(1),    T(-1), T(0.5), T(-0.5), T(2),    T(-2),  T(3),
                        T(-3), T(2.5), T(-2.5), inf,   -inf,   nan,     T(1e30), T(-1e30), T(1e-30)};
    std::vector<T> x, y;
    for (const T a : values) {
      for (const T b : values) {
        x.push_back(a);
        y.push_back(b);
      }
    }
    while (x.size() % 8 != 0) x.push_back(1), y.push_back(1);
    for (const auto at : levels()) {
      const auto r = run_at<pow_loop, T>(at, static_cast<std::int64_t>(x.size()), x.data(), y.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        CAPTURE(x[i], y[i], r[i]);
        const L exact = std::pow(static_cast<L>(x[i]), static_cast<L>(y[i]));
        CHECK(ulps(r[i], exact) <= (sizeof(T) == 4 ? 1.0 : 4.0));
        if (r[i] == 0) CHECK(std::signbit(r[i]) == std::signbit(static_cast<T>(exact)));
      }
    }
  }
  SECTION("accuracy") {
    const T limit = sizeof(T) == 4 ? T(88) : T(700);
    std::vector<T> x, y;
    for (int i = 1; i < 400; ++i) {
      for (int k = -100; k < 100; ++k) {
        const T base = std::exp(static_cast<T>(i - 200) / T(3.1) / (i % 2 == 0 ? T(1) : T(20)));
        const T exponent = static_cast<T>(k) / T(100) * limit / std::log(base);
        if (!std::isfinite(exponent)) continue;
        x.push_back(base);
        y.push_back(exponent);
      }
    }
    while (x.size() % 8 != 0) x.push_back(1), y.push_back(1);
    double near = 0, far = 0;
    for (const auto at : levels()) {
      const auto r = run_at<pow_loop, T>(at, static_cast<std::int64_t>(x.size()), x.data(), y.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double e = ulps(r[i], std::pow(static_cast<L>(x[i]), static_cast<L>(y[i])));
        double& bound = std::fabs(y[i] * std::log(x[i])) < 100 ? near : far;
        bound = std::max(bound, e);
      }
    }
    CHECK(near <= (sizeof(T) == 4 ? 1.0 : 4.0));
    UNSCOPED_INFO(near << " and " << far);
    CHECK(far <= 40.0);
  }
}

TEST_CASE("single numbers have the same functions", "[math]") {
  CHECK(cpu::exp(1.0f) == Approx(2.7182818f));
  CHECK(cpu::sigmoid(0.0) == 0.5);
  CHECK(cpu::sigmoid(-800.0f) == 0.0f);
  CHECK(cpu::softplus(0.0) == Approx(std::log(2.0)));
  CHECK(cpu::softplus(1000.0f) == 1000.0f);
  CHECK(cpu::round(2.5) == 2.0);
  CHECK(cpu::rsqrt(4.0) == 0.5);
  CHECK(cpu::pow(-2.0f, 3.0f) == -8.0f);
  CHECK(cpu::sign(-3.0) == -1.0);
  CHECK(cpu::abs(-3.0f) == 3.0f);
}

TEST_CASE("sign and magnitude of integers", "[math]") {
  const std::int32_t in[8] = {-5, 0, 7, INT32_MIN, INT32_MAX, -1, 1, 2};
  std::int32_t out[8];
  cpu::store(out, cpu::sign(cpu::load(in)));
  const std::int32_t signs[8] = {-1, 0, 1, -1, 1, -1, 1, 1};
  for (int i = 0; i < 8; ++i) CHECK(out[i] == signs[i]);
  cpu::store(out, cpu::abs(cpu::load(in)));
  const std::int32_t magnitudes[8] = {5, 0, 7, INT32_MIN, INT32_MAX, 1, 1, 2};
  for (int i = 0; i < 8; ++i) CHECK(out[i] == magnitudes[i]);
}
