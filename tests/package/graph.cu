// SPDX-License-Identifier: BSL-1.0
// A graph in a file that nvcc compiles: trained for a few steps, on the CPU.
#include <cstdio>

#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
  constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();
  const auto logits = tg::dense<"logits", 3>(x) * 2.0f;
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  using compiled = std::remove_const_t<decltype(program)>;
  static_assert(compiled::peak_bytes(32) > 0);
  tg::session session(program, {.seed = 1});
  const tg::tensor<float> images(tg::shape{2, 4}, {1, 2, 3, 4, 4, 3, 2, 1});
  const tg::tensor<std::uint8_t> labels(tg::shape{2}, {0, 2});
  const float before = session.run(loss, x = images, y = labels);
  for (int step = 0; step < 20; ++step) session.run(train, x = images, y = labels);
  const float after = session.run(loss, x = images, y = labels);
  std::printf("loss %g, then %g\n", static_cast<double>(before), static_cast<double>(after));
  return after < before / 2 ? 0 : 1;
}
