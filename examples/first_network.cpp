// SPDX-License-Identifier: BSL-1.0
// The program in README.md: two layers learn Fashion-MNIST.
// run: {fashion_mnist}
#include <tagma/data/fashion_mnist.hpp>
#include <tagma/observe/progress.hpp>
#include <tagma/tagma.hpp>
#include <tagma/train/save.hpp>

#include <cstdio>

namespace tg = tagma;
constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

int main(int argc, char** argv) {
  auto hidden = tg::dense<"hidden", 300>(tg::flatten(x), tg::relu);
  auto logits = tg::dense<"logits", 10>(hidden);
  auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  auto accuracy = tg::mean(tg::cast<float>(tg::equal(tg::argmax(logits), y)));
  auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3});

  auto program = tg::compile([=] { return tg::outputs(loss, accuracy, train); });  // checked and planned here
#if !defined(TAGMA_LATE)  // a program that is compiled late has a function in its place
  static_assert(decltype(program)::peak_bytes(/*batch*/ 128) < 2'000'000);
#endif

  tg::session session(program, {.seed = 42});
  auto data = argc > 1 ? tg::fashion_mnist(argv[1]) : tg::fashion_mnist();
  for (int epoch : tg::progress(3, "epoch"))
    for (auto& [images, labels] : data.train.shuffle(60'000).epoch(epoch).batch(128).prefetch(2))
      session.run(train, x = images, y = labels);

  std::printf("test accuracy %.4f\n", session.run(accuracy, x = data.test.images, y = data.test.labels));
  tg::save(session, "model.safetensors");
}
