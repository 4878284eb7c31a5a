// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/schedules.md.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

namespace tg = tagma;

TEST_CASE("reference: learning rates") {
  // example: exponential_decay, piecewise_constant, polynomial_decay, cosine_decay, number_list
  tg::rate falling =
      tg::exponential_decay{.initial = 0.1, .decay_steps = 1000, .decay_rate = 0.5};         // 0.05 at step 1000
  tg::rate in_pieces = tg::piecewise_constant{{1000, 5000}, {0.1, 0.01, 0.001}};             // 0.01 from step 1001
  tg::rate to_zero = tg::polynomial_decay{.initial = 0.1, .decay_steps = 1000, .final = 0};  // 0.05 at step 500
  tg::rate wave = tg::cosine_decay{.initial = 0.1, .decay_steps = 1000};                     // 0.05 at step 500
  auto optimizer = tg::adam{.learning_rate = falling};
  // end
  // example: rate, evaluate
  auto warm = tg::rate(tg::cosine_decay{.initial = 0.1, .decay_steps = 1000}).after_warm_up(100);
  double at_start = tg::evaluate(warm.value(), 49);    // 0.0497: half of what the cosine has there
  double later = tg::evaluate(falling.value(), 1000);  // 0.05
  // end
  CHECK(later == Approx(0.05));
  CHECK(tg::evaluate(optimizer.learning_rate.value(), 1000) == Approx(0.05));
  CHECK(tg::evaluate(in_pieces.value(), 1000) == Approx(0.1));
  CHECK(tg::evaluate(in_pieces.value(), 1001) == Approx(0.01));
  CHECK(tg::evaluate(to_zero.value(), 500) == Approx(0.05));
  CHECK(tg::evaluate(wave.value(), 500) == Approx(0.05));
  CHECK(at_start == Approx(0.0497).epsilon(0.01));
}
