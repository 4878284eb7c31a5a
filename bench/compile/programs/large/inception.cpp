// SPDX-License-Identifier: BSL-1.0
// Inception blocks, Szegedy et al. 2014: four branches side by side, nine times.
#include "layers.hpp"

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 32, 32, 3>();
constexpr auto y = tg::placeholder<"y", std::int32_t, tg::dyn>();
constexpr tg::conv_options same{.padding = tg::same_padding};
constexpr tg::pool_options in_place{.stride = 1, .padding = tg::same_padding};

template <tg::fixed_string Name, tg::expression E>
auto inception(const E& e) {
  auto a = tg::conv2d<Name / "a", 16, 1>(e, tg::relu);
  auto b = tg::conv2d<Name / "b2", 24, 3, same>(tg::conv2d<Name / "b1", 16, 1>(e, tg::relu), tg::relu);
  auto c = tg::conv2d<Name / "c2", 8, 5, same>(tg::conv2d<Name / "c1", 8, 1>(e, tg::relu), tg::relu);
  auto d = tg::conv2d<Name / "d", 8, 1>(tg::max_pool<3, in_place>(e), tg::relu);
  return tg::concat<3>(a, b, c, d);
}

template <int I, tg::expression E>
auto tower(const E& e) {
  if constexpr (I == 9)
    return e;
  else
    return tower<I + 1>(inception<numbered<"block", I>>(e));
}

int main() {
  auto stem = tg::max_pool<2>(tg::conv2d<"stem", 32, 3, same>(x, tg::relu));
  auto logits = tg::dense<"head", 10>(tg::global_average_pool(tower<0>(stem)));
  auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3});
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::printf("%zu nodes\n", static_cast<std::size_t>(program.node_count()));
  tg::session session(program, {.seed = 1});
  tg::tensor<float> images({2, 32, 32, 3});
  tg::tensor<std::int32_t> labels({2}, {3, 5});
  train_a_little(session, loss, train, x = images, y = labels);
}
