// SPDX-License-Identifier: BSL-1.0
// The MLP trainer with a loop of its own: epochs over shuffled batches, validation, an early end, a file of the best epoch, and
// a line for each. What tagma::fit does of this is in fit.cpp.
#include <cstdio>

#include "tagma/datasets.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

namespace tg = tagma;

int main(int argc, char** argv) {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
  constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();
  const auto hidden1 = tg::dense<"hidden1", 300>(x, tg::relu);
  const auto hidden2 = tg::dense<"hidden2", 100>(hidden1, tg::relu);
  const auto logits = tg::dense<"outputs", 10>(hidden2);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  const auto accuracy = tg::mean(tg::cast<float>(tg::equal(tg::argmax(logits), y)));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3});
  const auto program = tg::compile([=] { return tg::outputs(loss, accuracy, train); });
  tg::session session(program, {.seed = 42});
  tg::tensor<float> images({8192, 784});
  tg::tensor<std::uint8_t> labels({8192});
  for (tg::extent i = 0; i < images.dims().elements(); ++i) images[i] = static_cast<float>(i * 37 % 101) / 101;
  for (tg::extent i = 0; i < 8192; ++i) labels[i] = static_cast<std::uint8_t>(i * 7 % 10);
  const auto data = tg::datasets::from_slices(images, labels);
  const std::string file = std::string(argc > 1 ? argv[1] : ".") + "/best.safetensors";
  double best = -1;
  int waited = 0;
  for (int epoch = 0; epoch < 10 && waited < 2; ++epoch) {
    double sum = 0, right = 0, rows = 0;
    for (auto& [batch, classes] : data.shuffle(8192, static_cast<std::uint64_t>(epoch)).batch(128)) {
      const auto [now, share, done] = session.run(tg::fetch(loss, accuracy, train), x = batch, y = classes);
      const auto count = static_cast<double>(batch.dims()[0]);
      sum += static_cast<double>(now) * count, right += static_cast<double>(share) * count, rows += count;
    }
    double valid = 0, cost = 0, seen = 0;
    for (auto& [batch, classes] : data.batch(1024)) {
      const auto [now, share] = session.run(tg::fetch(loss, accuracy), x = batch, y = classes);
      const auto count = static_cast<double>(batch.dims()[0]);
      cost += static_cast<double>(now) * count, valid += static_cast<double>(share) * count, seen += count;
    }
    if (valid / seen > best)
      best = valid / seen, waited = 0, tg::save(session, file);
    else
      ++waited;
    std::printf("epoch %d: loss %.4f (validation %.4f), accuracy %.4f (validation %.4f)\n", epoch + 1, sum / rows, cost / seen,
                right / rows, valid / seen);
  }
  static_cast<void>(tg::restore(session, file));
  std::printf("%g\n", best);
}
