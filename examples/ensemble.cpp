// SPDX-License-Identifier: BSL-1.0
// An ensemble: three networks of one shape, each with variables of its own on a device of its own, trained in one run,
// and the mean of what they predict.
#include <tagma/plan/print.hpp>
#include <tagma/tagma.hpp>

#include <cstdio>

namespace tg = tagma;
constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 1>();

/// The logits of a member. Its name begins those of its variables, which begin with other values therefore.
template <tg::fixed_string Hidden, tg::fixed_string Output>
auto member() {
  return tg::dense<Output, 1>(tg::dense<Hidden, 8>(x, tg::tanh));
}

auto train(const auto& logits) {
  return tg::minimize(tg::mean(tg::sigmoid_cross_entropy(logits, y)), tg::adam{.learning_rate = 0.1});
}

int main() {
  const auto a = tg::on<tg::cpu<0>>(member<"a/hidden", "a/output">());
  const auto b = tg::on<tg::cpu<1>>(member<"b/hidden", "b/output">());
  const auto c = tg::on<tg::cpu<2>>(member<"c/hidden", "c/output">());
  const auto all = tg::group(train(a), train(b), train(c));
  const auto mean = (tg::sigmoid(a) + tg::sigmoid(b) + tg::sigmoid(c)) / 3.0f;
  const auto program = tg::compile([=] { return tg::outputs(mean, all, a, b, c); });

  const std::string table = tg::explain(program, tg::outputs(all), 4);
  std::fputs(table.substr(table.find("copies between devices")).c_str(), stdout);

  tg::session session(program, {.seed = 1, .cpu_devices = 3});
  const tg::tensor<float> inputs({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1}), targets({4, 1}, {0, 1, 1, 0});
  for (int step = 0; step < 200; ++step) session.run(all, x = inputs, y = targets);
  const auto [together, of_a, of_b, of_c] = session.run(tg::fetch(mean, a, b, c), x = inputs);
  const bool differ = !(of_a == of_b) && !(of_b == of_c) && !(of_a == of_c);
  std::printf("the members %s\n", differ ? "have learned different functions" : "are alike");
  for (int i = 0; i < 4; ++i) std::printf("%g xor %g = %.1f\n", inputs[2 * i], inputs[2 * i + 1], together[i]);
}
