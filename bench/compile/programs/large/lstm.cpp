// SPDX-License-Identifier: BSL-1.0
// Three recurrent layers over 100 steps, or as many as STEPS says.
#include "layers.hpp"

#if !defined(STEPS)
#define STEPS 100
#endif

constexpr auto x = tg::placeholder<"x", float, tg::dyn, STEPS, 16>();
constexpr auto y = tg::placeholder<"y", std::int32_t, tg::dyn>();

int main() {
  auto h1 = tg::lstm<"layer1", 64>(x, tg::return_sequences);
  auto h2 = tg::lstm<"layer2", 64>(h1, tg::return_sequences);
  auto h3 = tg::lstm<"layer3", 64>(h2);
  auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"head", 10>(h3), y));
  auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3});
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::printf("%zu nodes\n", static_cast<std::size_t>(program.node_count()));
  tg::session session(program, {.seed = 1});
  tg::tensor<float> sequences({4, STEPS, 16});
  for (std::size_t i = 0; i < sequences.size(); ++i) sequences.data()[i] = static_cast<float>(i % 13) / 13.0f;
  tg::tensor<std::int32_t> labels({4}, {1, 2, 3, 4});
  train_a_little(session, loss, train, x = sequences, y = labels);
}
