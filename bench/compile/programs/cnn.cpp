// SPDX-License-Identifier: BSL-1.0
// A trainer of a small convolutional network, as a user would write it.
#include <cstdio>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

int main() {
  constexpr tg::conv_options same{.padding = tg::same_padding};
  const auto conv1 = tg::max_pool<2>(tg::conv2d<"conv1", 32, 5, same>(x, tg::relu));
  const auto conv2 = tg::max_pool<2>(tg::conv2d<"conv2", 64, 5, same>(conv1, tg::relu));
  const auto hidden = tg::dense<"hidden", 1024>(tg::flatten(conv2), tg::relu);
  const auto logits = tg::dense<"logits", 10>(tg::dropout(hidden, 0.4f));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  const auto accuracy = tg::mean(tg::cast<float>(tg::equal(tg::argmax(logits), tg::cast<std::int64_t>(y))));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3});
  const auto program = tg::compile([=] { return tg::outputs(loss, accuracy, train); });
  tg::session session(program, {.seed = 42});
  const tg::tensor<float> images(tg::shape{64, 28, 28, 1});
  const tg::tensor<std::uint8_t> labels(tg::shape{64});
  for (int step = 0; step < 3; ++step) session.run(train, x = images, y = labels);
  std::printf("%g\n", static_cast<double>(session.run(accuracy, x = images, y = labels)));
}
