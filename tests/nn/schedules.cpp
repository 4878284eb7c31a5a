// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/schedules.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace tg = tagma;

namespace {
double at(const tg::rate& rate, double step) { return tg::evaluate(rate.value(), step); }
}  // namespace

TEST_CASE("learning rates follow TensorFlow's formulas") {
  CHECK(at(0.5, 0) == 0.5);
  CHECK(at(0.5, 1000) == 0.5);

  const tg::exponential_decay smooth{.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5};
  CHECK(at(smooth, 5) == Approx(0.1 * std::pow(0.5, 0.5)));
  const tg::exponential_decay stairs{.initial = 0.1, .decay_steps = 10, .decay_rate = 0.5, .staircase = true};
  CHECK(at(stairs, 9) == Approx(0.1));
  CHECK(at(stairs, 10) == Approx(0.05));

  const tg::piecewise_constant pieces{.boundaries = {10, 20}, .values = {1, 0.5, 0.25}};
  CHECK(at(pieces, 10) == 1);
  CHECK(at(pieces, 11) == 0.5);
  CHECK(at(pieces, 20) == 0.5);
  CHECK(at(pieces, 21) == 0.25);

  const tg::polynomial_decay polynomial{.initial = 1, .decay_steps = 10, .final = 0.2, .power = 2};
  CHECK(at(polynomial, 5) == Approx(0.8 * 0.25 + 0.2));
  CHECK(at(polynomial, 10) == Approx(0.2));
  CHECK(at(polynomial, 99) == Approx(0.2));

  const tg::cosine_decay cosine{.initial = 2, .decay_steps = 10, .alpha = 0.1};
  CHECK(at(cosine, 0) == Approx(2));
  CHECK(at(cosine, 5) == Approx(2 * (0.9 * 0.5 + 0.1)));
  CHECK(at(cosine, 50) == Approx(0.2));
}

TEST_CASE("a warm-up grows in equal parts") {
  const tg::rate warm = tg::rate(0.8).after_warm_up(4);
  CHECK(at(warm, 0) == Approx(0.2));
  CHECK(at(warm, 2) == Approx(0.6));
  CHECK(at(warm, 4) == Approx(0.8));
}

TEST_CASE("wrong schedules are refused") {
  CHECK_THROWS_WITH(tg::rate(tg::piecewise_constant{.boundaries = {1}, .values = {1}}),
                    Catch::Contains("one value more than boundaries"));
  CHECK_THROWS_WITH(tg::rate(tg::cosine_decay{.initial = 1, .decay_steps = 0}), Catch::Contains("decay_steps above 0"));
}
