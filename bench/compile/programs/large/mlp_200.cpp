// SPDX-License-Identifier: BSL-1.0
// A deep stack of plain layers.
#include "layers.hpp"

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 32>();
constexpr auto y = tg::placeholder<"y", std::int32_t, tg::dyn>();

template <int I, tg::expression E>
auto stack(const E& e) {
  if constexpr (I == 200)
    return e;
  else
    return stack<I + 1>(tg::dense<numbered<"layer", I>, 32>(e, tg::relu));
}

int main() {
  auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"head", 10>(stack<0>(x)), y));
  auto train = tg::minimize(loss, tg::adam{.learning_rate = 1e-3});
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
  std::printf("%zu nodes\n", static_cast<std::size_t>(program.node_count()));
  tg::session session(program, {.seed = 1});
  tg::tensor<float> rows({4, 32});
  tg::tensor<std::int32_t> labels({4}, {1, 2, 3, 4});
  train_a_little(session, loss, train, x = rows, y = labels);
}
