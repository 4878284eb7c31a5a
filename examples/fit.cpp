// SPDX-License-Identifier: BSL-1.0
// run: {fashion_mnist} {out}
// Trains on Fashion-MNIST without a loop of its own: validation, an early end, the best epoch, curves for TensorBoard
// and a picture.
#include <cstdint>
#include <cstdio>
#include <string>
#include <tagma/data.hpp>
#include <tagma/fit.hpp>
#include <tagma/tagma.hpp>

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

int main(int argc, char** argv) {
  const std::string folder = argc > 2 ? std::string(argv[2]) + "/" : "";
  const auto logits = tg::dense<"logits", 10>(tg::dense<"hidden", 64>(tg::flatten(x), tg::relu));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  const auto accuracy = tg::mean(tg::cast<float>(tg::equal(tg::argmax(logits), y)));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 3e-3});

  const auto program = tg::compile([=] { return tg::outputs(loss, accuracy, train); });
  tg::session session(program, {.seed = 42});
  const auto data = argc > 1 ? tg::fashion_mnist(argv[1]) : tg::fashion_mnist();

  const auto in = tg::inputs(x, y);
  const auto history = tg::fit(
      session, train, in,
      [&](std::uint64_t epoch) { return data.train.shuffle(60'000).epoch(epoch).batch(256).prefetch(2); },
      {.epochs = 5,
       .validate =
           [&] {
             return tg::evaluate(session, in, data.test.batch(1000), tg::report("loss", loss),
                                 tg::report("accuracy", accuracy));
           },
       .watch = "accuracy",
       .more_is_better = true,
       .patience = 2,
       .checkpoints = folder + "model",
       .keep = 1,
       .restore_best = true,
       .log_directory = folder + "log",
       .picture = folder + "curves.svg"},
      tg::report("loss", loss), tg::report("accuracy", accuracy));

  const auto& best = history.epochs[static_cast<std::size_t>(history.best)];
  const double now = tg::evaluate(session, in, data.test.batch(1000), tg::report("accuracy", accuracy))[0];
  std::printf("%zu epochs, the best of which has a validation accuracy of %.4f\n", history.epochs.size(),
              best.validation[1]);
  std::printf("the session has its variables: %s\n", now == best.validation[1] ? "yes" : "no");
}
