// SPDX-License-Identifier: BSL-1.0
// Four examples, a hidden layer of eight, and the function that a single layer cannot learn.
#include <tagma/tagma.hpp>

#include <cstdio>

namespace tg = tagma;
constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 1>();

int main() {
  auto logits = tg::dense<"output", 1>(tg::dense<"hidden", 8>(x, tg::tanh));
  auto loss = tg::mean(tg::sigmoid_cross_entropy(logits, y));
  auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.1});
  auto answer = tg::sigmoid(logits);
  tg::session session(tg::compile([=] { return tg::outputs(answer, train); }), {.seed = 1});

  const tg::tensor<float> inputs({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), targets({4, 1}, {0, 1, 1, 0});
  for (int step = 0; step < 200; ++step) session.run(train, x = inputs, y = targets);
  const auto answers = session.run(answer, x = inputs);
  for (int i = 0; i < 4; ++i) std::printf("%g xor %g = %.2f\n", inputs[2 * i], inputs[2 * i + 1], answers[i]);
}
