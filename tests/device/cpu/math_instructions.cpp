// SPDX-License-Identifier: BSL-1.0
// The functions of packs with the instructions that programs give them, where math.cpp tests formulas for all
// processors.
#include "support/accuracy.hpp"
#include "support/sanitizers.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tagma/device/cpu/denormals.hpp"
#include "tagma/with_macros.hpp"

using namespace tagma::test;

namespace {

// The results of the loop that programs run everywhere, and that the one for AVX-512 gives the same bytes.
template <class F, class T>
std::vector<T> results(const std::vector<T>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<T> y(x.size()), wide(x.size());
  using loop = unary_loop<F, T>;
  cpu::dispatch<unary_loop_of<F, 8>>(y.data(), x.data(), n);
  cpu::dispatch<loop>(wide.data(), x.data(), n);
  std::size_t different = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool same = std::memcmp(&y[i], &wide[i], sizeof(T)) == 0 || (std::isnan(y[i]) && std::isnan(wide[i]));
    if (!same && different++ == 0) FAIL_CHECK(y[i] << " and " << wide[i] << " at " << x[i]);
  }
  CHECK(different == 0);
  return y;
}

template <class F, class T>
double worst_of(const std::vector<T>& x) {
  using L = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const auto y = results<F>(x);
  double bad = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = ulps(y[i], F::reference(static_cast<L>(x[i])));
    if (e > bad) {
      bad = e;
      UNSCOPED_INFO(e << " ulp at x = " << x[i]);
    }
  }
  return bad;
}
template <class F, class T>
double worst(T low, T high, int n = 40000) {
  return worst_of<F>(sweep(low, high, tagma::test::is_sanitized ? n / 16 : n));
}

// What ends of ranges, signs and denormals are.
template <class T>
std::vector<T> special() {
  using l = std::numeric_limits<T>;
  std::vector<T> x{T(0),     l::denorm_min(), l::min() / 2, l::min(),      l::min() * 3,  T(1),
                   T(6),     T(708.5),        T(745),       T(87.5),       T(103.5),      T(16384),
                   T(65536), T(1e30),         l::max(),     l::infinity(), l::quiet_NaN()};
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) x.push_back(-x[i]);
  for (std::size_t i = 0; i < 8; ++i) x.push_back(T(0.5));  // packs with one such lane among others
  std::vector<T> mixed;
  for (const T at : x)
    for (int lane = 0; lane < 16; ++lane) mixed.push_back(lane == 5 ? at : T(0.25) * static_cast<T>(lane + 1));
  return mixed;
}

template <class T>
void check_special() {
  const auto x = special<T>();
  CHECK(worst_of<exp_function>(x) <= 1.0);
  CHECK(worst_of<expm1_function>(x) <= 2.0);
  CHECK(worst_of<log_function>(x) <= 1.0);
  CHECK(worst_of<log1p_function>(x) <= 2.0);
  CHECK(worst_of<tanh_function>(x) <= 3.0);
  CHECK(worst_of<erf_function>(x) <= 2.0);
  CHECK(worst_of<sin_function>(x) <= 2.0);
  CHECK(worst_of<cos_function>(x) <= 2.0);
  CHECK(worst_of<sqrt_function>(x) <= 0.5);
  CHECK(worst_of<floor_function>(x) == 0.0);
  CHECK(worst_of<ceil_function>(x) == 0.0);
  CHECK(worst_of<round_function>(x) == 0.0);
  CHECK(worst_of<sigmoid_function>(x) <= 3.0);
  CHECK(worst_of<softplus_function>(x) <= 3.0);
}

}  // namespace

TEMPLATE_TEST_CASE("functions of packs by instructions", "[math]", float, double) {
  using T = TestType;
  const bool single = std::is_same_v<T, float>;
  const T low = single ? T(-104) : T(-746), high = single ? T(88.7) : T(709.7);
  const T max = std::numeric_limits<T>::max();
  CHECK(worst<exp_function, T>(low, high) <= 1.0);
  CHECK(worst<exp_of_negative_function, T>(single ? T(-87) : T(-708), T(0)) <= 1.0);
  CHECK(worst<expm1_function, T>(low, high) <= 2.0);
  CHECK(worst<log_function, T>(T(0), max) <= 1.0);
  CHECK(worst<log_function, T>(T(0.5), T(2)) <= 1.0);
  CHECK(worst<log1p_function, T>(T(-1), T(4)) <= 2.0);
  CHECK(worst<sigmoid_function, T>(low, -low) <= 3.0);
  CHECK(worst<softplus_function, T>(low, -low) <= 3.0);
  CHECK(worst<tanh_function, T>(T(-25), T(25)) <= 3.0);
  CHECK(worst<erf_function, T>(T(-7), T(7), 400000) <= 2.0);
  CHECK(worst<erf_function, T>(T(-1.2), T(1.2), 400000) <= 2.0);
  CHECK(worst<sin_function, T>(T(-4), T(4), 400000) <= 2.0);
  CHECK(worst<cos_function, T>(T(-4), T(4), 400000) <= 2.0);
  CHECK(worst<sin_function, T>(T(-65536), T(65536)) <= 2.0);
  CHECK(worst<cos_function, T>(T(-65536), T(65536)) <= 2.0);
  CHECK(worst<rsqrt_function, T>(std::numeric_limits<T>::min(), max) <= 2.0);
  for (const T bound : {T(5), T(1e7), max}) {
    CHECK(worst<floor_function, T>(-bound / 2, bound / 2) == 0.0);
    CHECK(worst<ceil_function, T>(-bound / 2, bound / 2) == 0.0);
    CHECK(worst<round_function, T>(-bound / 2, bound / 2) == 0.0);
  }
}

TEMPLATE_TEST_CASE("roots are the nearest numbers", "[math]", float, double) {
  using T = TestType;
  CHECK(worst<sqrt_function, T>(T(0), std::numeric_limits<T>::max(), 400000) <= 0.5);
  // Squares, and what is next to them and to squares of numbers halfway between two.
  std::mt19937_64 random(1);
  std::uniform_real_distribution<T> mantissas(1, 2);
  std::vector<T> x;
  for (int i = 0; i < (tagma::test::is_sanitized ? 5'000 : 100'000); ++i) {
    const T root = mantissas(random);
    const T short_root = static_cast<T>(static_cast<float>(root) * 0x1p11f - static_cast<float>(root));
    for (const T square :
         {root * root, short_root * short_root, std::fma(root, root, root * std::numeric_limits<T>::epsilon())})
      x.insert(x.end(), {square, std::nextafter(square, T(0)), std::nextafter(square, T(1e9)), square * 2});
  }
  for (int i = -30; i < 30; ++i)
    for (const T power : {std::ldexp(T(1), i)})
      x.insert(x.end(), {power, std::nextafter(power, T(0)), std::nextafter(power, T(1e30))});
  const auto y = results<sqrt_function>(x);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += y[i] != std::sqrt(x[i]);
  CHECK(wrong == 0);
}

TEST_CASE("special values of packs by instructions", "[math]") {
  check_special<float>();
  check_special<double>();
}

TEMPLATE_TEST_CASE("both bodies flush the same denormals", "[math]", float, double) {
  const unsigned before = cpu::flush_denormals();
  const auto x = special<TestType>();
  (void)results<exp_function>(x);
  (void)results<expm1_function>(x);
  (void)results<log_function>(x);
  (void)results<sin_function>(x);
  (void)results<sqrt_function>(x);
  (void)results<floor_function>(x);
  (void)results<erf_function>(x);
  (void)results<sigmoid_function>(x);
  (void)results<exp_function>(sweep<TestType>(TestType(sizeof(TestType) == 4 ? -104 : -746), TestType(-80), 40000));
  cpu::restore_denormals(before);
}
