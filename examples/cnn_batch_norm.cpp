// SPDX-License-Identifier: BSL-1.0
// run: {fashion_mnist}
// A convolutional network with batch normalisation and dropout on Fashion-MNIST. One function is the model of training
// and of evaluation; both are in one program, over the same variables.
#include <cstdint>
#include <cstdio>
#include <tagma/data.hpp>
#include <tagma/fit.hpp>
#include <tagma/tagma.hpp>

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

/// Scores of the ten classes.
template <class Phase>
auto model(Phase phase) {
  constexpr tg::conv_options options{.stride = 2, .padding = tg::same_padding};
  const auto a = tg::relu(tg::batch_norm<"norm1">(tg::conv2d<"conv1", 12, 5, options>(x), phase, 0.9));
  const auto b = tg::relu(tg::batch_norm<"norm2">(tg::conv2d<"conv2", 24, 3, options>(a), phase, 0.9));
  return tg::dense<"scores", 10>(tg::dropout(tg::flatten(b), 0.3, phase));
}

int main(int argc, char** argv) {
  const auto learning = model(tg::phase::training);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(learning, y));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 3e-3});  // moves the averages of norm1 and norm2

  const auto scores = model(tg::phase::inference);
  const auto accuracy = tg::mean(tg::cast<float>(tg::equal(tg::argmax(scores), y)));

  tg::session session(tg::compile([=] { return tg::outputs(loss, train, accuracy); }), {.seed = 7});
  const auto data = argc > 1 ? tg::fashion_mnist(argv[1]) : tg::fashion_mnist();
  for (auto& [images, labels] : data.train.shuffle(60'000, 1).epoch(0).batch(100))
    session.run(train, x = images, y = labels);

  const double right =
      tg::evaluate(session, tg::inputs(x, y), data.test.batch(1000), tg::report("accuracy", accuracy))[0];
  std::printf("test accuracy %.3f after one epoch\n", right);
}
