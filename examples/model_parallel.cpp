// SPDX-License-Identifier: BSL-1.0
// Models that are spread over two devices: a network cut in two, and LSTM layers with a device for each. Both are
// trained on one device as well, and must end with the same parameters.
#include <tagma/nn/recurrent.hpp>
#include <tagma/plan/print.hpp>
#include <tagma/tagma.hpp>

#include <algorithm>
#include <cstdio>

namespace tg = tagma;
constexpr tg::extent batch = 16, window = 3;
constexpr auto pixels = tg::placeholder<"pixels", float, tg::dyn, 12>();
constexpr auto series = tg::placeholder<"series", float, tg::dyn, window, 4>();
constexpr auto target = tg::placeholder<"target", float, tg::dyn, 2>();

// Two models, each in two parts: the second ends with the loss.
constexpr auto net_lower = [](const auto& x) { return tg::dense<"hidden", 10>(x, tg::tanh); };
constexpr auto net_upper = [](const auto& hidden) {
  return tg::mean(tg::square(tg::dense<"output", 2>(hidden) - target));
};
constexpr auto stack_lower = [](const auto& x) { return tg::lstm<"lower", 6>(x, tg::return_sequences); };
constexpr auto stack_upper = [](const auto& states) {
  return tg::mean(tg::square(tg::dense<"answer", 2>(tg::lstm<"upper", 6>(states)) - target));
};

tg::tensor<float> numbers(const tg::shape& dims, int period) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i)
    t[i] = static_cast<float>(static_cast<int>(i) * 7 % period) / static_cast<float>(period) - 0.5f;
  return t;
}

/// The parameters after ten steps of training.
auto train(auto& session, const auto& step, const auto& parameters, const auto& fed) {
  const auto targets = numbers({batch, 2}, 5);
  for (int i = 0; i < 10; ++i) session.run(step, fed, target = targets);
  return session.run(parameters);
}

/// The lines about copies of a table that `explain` made, without what follows the devices.
void print_copies(const std::string& table) {
  const std::size_t columns = table.find("loop");
  for (std::size_t line = 0, end; (end = table.find('\n', line)) != std::string::npos; line = end + 1)
    if (table.compare(line, 4, "copy") == 0 || table.compare(line, 6, "copies") == 0)
      std::puts(table.substr(line, std::min(columns, end - line)).c_str());
}

/// Trains a model on one device and on two, and tells what came of it.
void compare(const char* name, const auto& whole, const auto& cut, const auto& fed, const auto&... parameters) {
  const auto one_step = tg::minimize(whole, tg::adam{.learning_rate = 0.01});
  const auto two_step = tg::minimize(cut, tg::adam{.learning_rate = 0.01});
  const auto one = tg::compile([=] { return tg::outputs(one_step, parameters...); });
  const auto two = tg::compile([=] { return tg::outputs(two_step, parameters...); });

  std::printf("%s\n", name);
  print_copies(tg::explain(two, tg::outputs(two_step), batch));
  tg::session on_one(one, {.seed = 3});
  tg::session on_two(two, {.seed = 3, .cpu_devices = 2});
  const auto expected = train(on_one, one_step, tg::fetch(parameters...), fed);
  const auto found = train(on_two, two_step, tg::fetch(parameters...), fed);
  std::printf("parameters of two devices: %s\n", found == expected ? "those of one" : "others than those of one");
}

int main() {
  const auto images = numbers({batch, 12}, 11), sequences = numbers({batch, window, 4}, 13);
  compare("a network cut in two", net_upper(net_lower(pixels)),
          tg::on<tg::cpu<1>>(net_upper)(tg::on<tg::cpu<0>>(net_lower(pixels))), pixels = images,
          tg::variable<"hidden/kernel", float, 12, 10>(tg::glorot_uniform),
          tg::variable<"hidden/bias", float, 10>(tg::zeros),
          tg::variable<"output/kernel", float, 10, 2>(tg::glorot_uniform),
          tg::variable<"output/bias", float, 2>(tg::zeros));
  std::puts("");
  compare(
      "LSTM layers, a device for each", stack_upper(stack_lower(series)),
      tg::on<tg::cpu<1>>(stack_upper)(tg::on<tg::cpu<0>>(stack_lower(series))), series = sequences,
      tg::variable<"lower/kernel", float, 10, 24>(tg::glorot_uniform), tg::variable<"lower/bias", float, 24>(tg::zeros),
      tg::variable<"upper/kernel", float, 12, 24>(tg::glorot_uniform), tg::variable<"upper/bias", float, 24>(tg::zeros),
      tg::variable<"answer/kernel", float, 6, 2>(tg::glorot_uniform));
}
