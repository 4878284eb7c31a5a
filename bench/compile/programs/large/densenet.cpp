// SPDX-License-Identifier: BSL-1.0
// DenseNet of 40 layers, Huang et al. 2016: each layer reads all before it in its block.
#include "layers.hpp"

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 32, 32, 3>();
constexpr auto y = tg::placeholder<"y", std::int32_t, tg::dyn>();
constexpr tg::conv_options same{.padding = tg::same_padding};

template <tg::fixed_string Name, int I, int Layers, tg::expression E>
auto dense_block(const E& e) {
  if constexpr (I == Layers) {
    return e;
  } else {
    auto grown = tg::conv2d<numbered<Name, I>, 12, 3, same>(tg::relu(e));
    return dense_block<Name, I + 1, Layers>(tg::concat<3>(e, grown));
  }
}

int main() {
  auto first = dense_block<"block1", 0, 12>(tg::conv2d<"stem", 16, 3, same>(x));
  auto second = dense_block<"block2", 0, 12>(tg::average_pool<2>(tg::conv2d<"transition1", 160, 1>(first, tg::relu)));
  auto third = dense_block<"block3", 0, 12>(tg::average_pool<2>(tg::conv2d<"transition2", 304, 1>(second, tg::relu)));
  auto logits = tg::dense<"head", 10>(tg::global_average_pool(tg::relu(third)));
  auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  auto train = tg::minimize(loss, tg::momentum{.learning_rate = 0.1});
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::printf("%zu nodes\n", static_cast<std::size_t>(program.node_count()));
  tg::session session(program, {.seed = 1});
  tg::tensor<float> images({2, 32, 32, 3});
  tg::tensor<std::int32_t> labels({2}, {3, 5});
  train_a_little(session, loss, train, x = images, y = labels);
}
