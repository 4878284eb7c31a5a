// SPDX-License-Identifier: BSL-1.0
// Two programs over the same variables: one thread trains, another one looks at how far it is.
#include <cstdio>
#include <thread>

#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  constexpr auto y = tg::placeholder<"y", float, tg::dyn, 1>();
  const auto guess = tg::dense<"layer", 1>(x);
  const auto loss = tg::mean(tg::square(guess - y));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
  const auto training = tg::compile([=] { return tg::outputs(train); });
  const auto evaluation = tg::compile([=] { return tg::outputs(guess, loss); });  // no slots of an optimizer

  const tg::container state;
  tg::session trainer(training, {.state = state});
  tg::session evaluator(evaluation, {.state = state});

  const tg::tensor<float> points({4, 2}, {{0, 0, 0, 1, 1, 0, 1, 1}}), values({4, 1}, {{1, 3, 0, 2}});
  const float before = evaluator.run(loss, x = points, y = values);
  std::thread training_thread([&] {
    for (int step = 0; step < 500; ++step) trainer.run(train, x = points, y = values);
  });
  // A run never meets half of an update: what it computes belongs to one state of all variables.
  for (int look = 0; look < 100; ++look) {
    const auto [value, guesses] = evaluator.run(tg::fetch(loss, guess), x = points, y = values);
    float again = 0;
    for (tg::extent i = 0; i < 4; ++i) again += (guesses[i] - values[i]) * (guesses[i] - values[i]) / 4;
    if (again > value * 1.01f + 1e-5f || again < value * 0.99f - 1e-5f) return 1;
  }
  training_thread.join();
  const float after = evaluator.run(loss, x = points, y = values);
  std::printf("loss %.3f before, %.3f after; %zu bytes of variables\n", before, after, state.bytes());
  return after < 0.01f ? 0 : 1;
}
