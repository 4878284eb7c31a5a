// SPDX-License-Identifier: BSL-1.0
// U-Net, Ronneberger et al. 2015: four levels down and up, each level joined to its twin.
#include "layers.hpp"

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 64, 64, 1>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 64, 64, 1>();
constexpr tg::conv_options same{.padding = tg::same_padding};
constexpr tg::conv_options twice{.stride = 2, .padding = tg::same_padding};

template <tg::fixed_string Name, int Filters, tg::expression E>
auto two_convolutions(const E& e) {
  auto a = tg::conv2d<Name / "a", Filters, 3, same>(e, tg::relu);
  return tg::conv2d<Name / "b", Filters, 3, same>(a, tg::relu);
}

template <int Level, tg::expression E>
auto level(const E& e) {
  constexpr int filters = 16 << Level;
  auto down = two_convolutions<numbered<"down", Level>, filters>(e);
  if constexpr (Level == 4) {
    return down;
  } else {
    auto below = level<Level + 1>(tg::max_pool<2>(down));
    auto filter = tg::variable<numbered<"up", Level> / "grow", float, 2, 2, filters, 2 * filters>(tg::he_normal);
    auto grown = tg::conv2d_transpose<twice>(below, filter);
    return two_convolutions<numbered<"up", Level>, filters>(tg::concat<3>(down, grown));
  }
}

int main() {
  auto logits = tg::conv2d<"head", 1, 1>(level<0>(x));
  auto loss = tg::mean(tg::sigmoid_cross_entropy(logits, y));
  auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3});
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::printf("%zu nodes\n", static_cast<std::size_t>(program.node_count()));
  tg::session session(program, {.seed = 1});
  tg::tensor<float> images({1, 64, 64, 1}), masks({1, 64, 64, 1});
  train_a_little(session, loss, train, x = images, y = masks);
}
