// SPDX-License-Identifier: BSL-1.0
// run: {fashion_mnist}
// An autoencoder whose decoder has the weights of its encoder, transposed: 784 pixels become 24 numbers and pixels
// again. The layer is a function of this program; the same kernel stands in two products, and has the sum of both
// gradients.
#include <cstdint>
#include <cstdio>
#include <tagma/data.hpp>
#include <tagma/tagma.hpp>

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 1>();

/// A layer that can be gone through both ways.
template <tg::fixed_string Name, tg::extent Inputs, tg::extent Outputs>
struct tied {
  static auto kernel() { return tg::variable<Name / "kernel", float, Inputs, Outputs>(tg::glorot_uniform); }

  template <tg::expression E>
  static auto forth(const E& e) {
    return tg::matmul(e, kernel()) + tg::variable<Name / "bias", float, Outputs>(tg::zeros);
  }
  template <tg::expression E>
  static auto back(const E& e) {
    return tg::matmul(e, tg::transpose(kernel())) + tg::variable<Name / "back_bias", float, Inputs>(tg::zeros);
  }
};

int main(int argc, char** argv) {
  using first = tied<"first", 784, 128>;
  using second = tied<"second", 128, 24>;
  const auto pixels = tg::flatten(images);
  const auto code = second::forth(tg::relu(first::forth(pixels)));
  const auto restored = first::back(tg::relu(second::back(code)));
  const auto loss = tg::mean(tg::sigmoid_cross_entropy(restored, pixels));
  const auto error = tg::mean(tg::square(tg::sigmoid(restored) - pixels));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 2e-3});

  tg::session session(tg::compile([=] { return tg::outputs(train, error); }), {.seed = 11});
  const auto data = argc > 1 ? tg::fashion_mnist(argv[1]) : tg::fashion_mnist();
  const auto error_of_test = [&] {
    double sum = 0;
    for (auto& [batch, labels] : data.test.batch(1000))
      sum += static_cast<double>(session.run(error, images = batch)) / 10;
    return sum;
  };
  const double before = error_of_test();
  for (auto& [batch, labels] : data.train.shuffle(60'000, 1).epoch(0).batch(100)) session.run(train, images = batch);
  std::printf("squared error of a pixel: %.3f before, %.3f after one epoch, of pixels from 0 to 1\n", before,
              error_of_test());
}
