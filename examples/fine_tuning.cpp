// SPDX-License-Identifier: BSL-1.0
// Takes the layers of a network of PyTorch that has learned five classes of Fashion-MNIST, and teaches a new last layer
// the five others. fine_tuning.safetensors has what `safetensors.torch.save_file(network.state_dict(), ...)` writes of
//   features = Sequential(Conv2d(1, 8, 3), ReLU(), MaxPool2d(2), Conv2d(8, 16, 3), ReLU(), MaxPool2d(2),
//                         Conv2d(16, 16, 3), ReLU(), Flatten(), Linear(144, 32), ReLU())
//   classifier = Linear(32, 5)
// run: {fashion_mnist} {examples}/fine_tuning.safetensors
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <tagma/data/fashion_mnist.hpp>
#include <tagma/tagma.hpp>
#include <tagma/train.hpp>

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

/// The pictures of sandals, shirts, sneakers, bags and boots, as classes 0 to 4.
tg::fashion_mnist_data::split new_classes(const tg::fashion_mnist_data::split& all) {
  std::vector<tg::extent> chosen;
  for (tg::extent i = 0; i < all.rows(); ++i)
    if (all.labels[i] >= 5) chosen.push_back(i);
  const auto rows = static_cast<tg::extent>(chosen.size());
  tg::fashion_mnist_data::split made{tg::tensor<float>({rows, 28, 28, 1}), tg::tensor<std::uint8_t>({rows})};
  for (tg::extent i = 0; i < rows; ++i) {
    const tg::extent from = chosen[static_cast<std::size_t>(i)];
    std::copy_n(all.images.data() + from * 784, 784, made.images.data() + i * 784);
    made.labels[i] = static_cast<std::uint8_t>(all.labels[from] - 5);
  }
  return made;
}

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("fine_tuning folder_of_fashion_mnist fine_tuning.safetensors"), 2;
  const auto first = tg::max_pool<2>(tg::conv2d<"features/0", 8, 3>(x, tg::relu));
  const auto second = tg::max_pool<2>(tg::conv2d<"features/3", 16, 3>(first, tg::relu));
  const auto third = tg::conv2d<"features/6", 16, 3>(second, tg::relu);
  // PyTorch has channels before rows, so that is how its Flatten left them for the layer behind it.
  const auto flat = tg::flatten(tg::transpose<0, 3, 1, 2>(third));
  const auto features = tg::dense<"features/9", 32>(flat, tg::relu);
  const auto logits = tg::dense<"head", 5>(tg::stop_gradient(features));  // nothing below it learns
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  const auto accuracy = tg::mean(tg::cast<float>(tg::equal(tg::argmax(logits), y)));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.01});
  const auto program = tg::compile([=] { return tg::outputs(accuracy, train); });

  tg::session session(program, {.seed = 42});
  const auto report = tg::restore(session, argv[2],
                                  {.rules = {{"features.9.weight", "features/9/kernel", {1, 0}},
                                             {"features.*.weight", "features/*/kernel", {2, 3, 1, 0}},
                                             {"features.*.bias", "features/*/bias"}},
                                   .variables = {"features/**"}});
  std::printf("%s\n\n%s\n", to_string(report).c_str(), to_string(tg::summary(session)).c_str());

  const auto data = tg::fashion_mnist(argv[1]);
  const auto training = new_classes(data.train), test = new_classes(data.test);
  const auto kernel = tg::get_variable<float>(session, "features/6/kernel");
  std::printf("accuracy before: %.4f\n", session.run(accuracy, x = test.images, y = test.labels));
  for (const auto& [images, labels] : training.shuffle(30'000).batch(128)) session.run(train, x = images, y = labels);
  std::printf("accuracy behind one epoch: %.4f\n", session.run(accuracy, x = test.images, y = test.labels));
  const bool frozen = tg::get_variable<float>(session, "features/6/kernel") == kernel;
  std::printf("the layers that were loaded are as they were: %s\n", frozen ? "yes" : "no");
}
