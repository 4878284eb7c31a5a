// SPDX-License-Identifier: BSL-1.0
// In-graph replication: the variables are on /cpu:0, every device computes the gradients of its slice of the batch,
// and their average updates the variables. It trains like one device with the whole batch, but for the order of sums.
#include <tagma/plan/print.hpp>
#include <tagma/tagma.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tg = tagma;
constexpr int towers = 2;
constexpr tg::extent slice = 16, batch = towers * slice;
constexpr auto x = tg::placeholder<"x", float, batch, 8>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, batch>();

constexpr auto hidden_kernel = tg::variable<"hidden/kernel", float, 8, 12>(tg::glorot_uniform);
constexpr auto hidden_bias = tg::variable<"hidden/bias", float, 12>(tg::zeros);
constexpr auto logits_kernel = tg::variable<"logits/kernel", float, 12, 3>(tg::glorot_uniform);
constexpr auto logits_bias = tg::variable<"logits/bias", float, 3>(tg::zeros);

auto mean_loss(const auto& rows, const auto& classes) {
  const auto hidden = tg::tanh(tg::matmul(rows, hidden_kernel) + hidden_bias);
  const auto logits = tg::matmul(hidden, logits_kernel) + logits_bias;
  return tg::mean(tg::sparse_softmax_cross_entropy(logits, classes));
}
auto gradients_of(const auto& loss) {
  return tg::compute_gradients(loss, hidden_kernel, hidden_bias, logits_kernel, logits_bias);
}

constexpr auto variables_on_0 = [](tg::op_info op) { return op.is_variable ? "/cpu:0" : ""; };

/// The gradients of a slice of the batch, computed on its device. Gradients run where the operations are that they are
/// of.
template <int Device>
auto tower() {
  constexpr tg::range rows{Device * slice, (Device + 1) * slice};
  const auto loss = mean_loss(tg::slice<rows>(x), tg::slice<rows>(y));
  return gradients_of(tg::on<tg::cpu<Device>>(tg::on<variables_on_0>(loss)));
}

template <int... Device>
auto replicated(std::integer_sequence<int, Device...>) {
  return tg::average_gradients(tower<Device>()...);
}

float largest_difference(const tg::tensor<float>& a, const tg::tensor<float>& b) {
  float most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

int main() {
  const auto one_step = tg::apply_gradients(tg::momentum{.learning_rate = 0.05}, gradients_of(mean_loss(x, y)));
  const auto averages = replicated(std::make_integer_sequence<int, towers>{});
  const auto step = tg::apply_gradients(tg::momentum{.learning_rate = 0.05}, averages);
  const auto one =
      tg::compile([=] { return tg::outputs(one_step, hidden_kernel, hidden_bias, logits_kernel, logits_bias); });
  const auto all =
      tg::compile([=] { return tg::outputs(step, hidden_kernel, hidden_bias, logits_kernel, logits_bias); });

  const std::string table = tg::explain(all, tg::outputs(step));
  std::fputs(table.substr(table.find("copies between devices")).c_str(), stdout);

  tg::tensor<float> rows({batch, 8});
  tg::tensor<std::uint8_t> classes({batch});
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i * 29 % 64) / 32 - 1;
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::uint8_t>(i * 5 % 7 % 3);

  tg::session on_one(one, {.seed = 4});
  tg::session on_all(all, {.seed = 4, .cpu_devices = towers});
  for (int i = 0; i < 20; ++i) {
    on_one.run(one_step, x = rows, y = classes);
    on_all.run(step, x = rows, y = classes);
  }
  const auto parameters = tg::fetch(hidden_kernel, hidden_bias, logits_kernel, logits_bias);
  const auto [a1, b1, c1, d1] = on_one.run(parameters);
  const auto [a2, b2, c2, d2] = on_all.run(parameters);
  const float most = std::max(
      {largest_difference(a1, a2), largest_difference(b1, b2), largest_difference(c1, c2), largest_difference(d1, d2)});
  if (most < 1e-5f)
    std::puts("largest difference from one device with the whole batch: below 1e-5");
  else
    std::printf("largest difference from one device with the whole batch: %g\n", static_cast<double>(most));
}
