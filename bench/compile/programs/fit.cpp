// SPDX-License-Identifier: BSL-1.0
// The program of fit_by_hand.cpp by tagma::fit.
#include <cstdio>

#include "tagma/datasets.hpp"
#include "tagma/fit.hpp"
#include "tagma/tagma.hpp"

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
  const auto in = tg::inputs(x, y);
  const auto history = tg::fit(
      session, train, in, [&](std::uint64_t epoch) { return data.shuffle(8192, epoch).batch(128); },
      {.epochs = 10,
       .validate = [&] { return tg::evaluate(session, in, data.batch(1024), tg::report("loss", loss), tg::report("accuracy", accuracy)); },
       .watch = "accuracy",
       .more_is_better = true,
       .patience = 2,
       .checkpoints = std::string(argc > 1 ? argv[1] : ".") + "/model",
       .keep = 1,
       .restore_best = true},
      tg::report("loss", loss), tg::report("accuracy", accuracy));
  std::printf("%g\n", history.epochs[static_cast<std::size_t>(history.best)].validation[1]);
}
