// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/scalar_math.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace sm = tagma::scalar_math;

TEMPLATE_TEST_CASE("functions of single numbers are those of the C library", "", float, double) {
  using T = TestType;
  const T x = T(0.3);
  CHECK(sm::abs(-x) == x);
  CHECK(sm::exp(x) == std::exp(x));
  CHECK(sm::expm1(x) == std::expm1(x));
  CHECK(sm::log(x) == std::log(x));
  CHECK(sm::log1p(x) == std::log1p(x));
  CHECK(sm::sqrt(x) == std::sqrt(x));
  CHECK(sm::tanh(x) == std::tanh(x));
  CHECK(sm::erf(x) == std::erf(x));
  CHECK(sm::sin(x) == std::sin(x));
  CHECK(sm::cos(x) == std::cos(x));
  CHECK(sm::pow(x, T(1.7)) == std::pow(x, T(1.7)));
  CHECK(sm::floor(T(-1.5)) == -2);
  CHECK(sm::ceil(T(-1.5)) == -1);
  CHECK(sm::round(T(2.5)) == 2);
  CHECK(sm::round(T(3.5)) == 4);
}

TEMPLATE_TEST_CASE("functions of single numbers at their edges", "", float, double) {
  using T = TestType;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  CHECK(sm::sign(T(3)) == 1);
  CHECK(sm::sign(T(-3)) == -1);
  CHECK(std::signbit(sm::sign(T(-0.0))));
  CHECK(std::isnan(sm::sign(nan)));
  CHECK(sm::select(true, T(1), T(2)) == 1);
  CHECK(sm::select(false, T(1), T(2)) == 2);
  CHECK(sm::sigmoid(T(0)) == T(0.5));
  CHECK(sm::sigmoid(T(-1000)) == 0);
  CHECK(sm::sigmoid(T(1000)) == 1);
  CHECK(sm::softplus(T(0)) == Approx(std::log(2.0)));
  CHECK(sm::softplus(T(1000)) == 1000);
  CHECK(sm::softplus(T(-1000)) == 0);
}
