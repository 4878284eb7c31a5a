// SPDX-License-Identifier: BSL-1.0
// A program for a GPU. Where there is none, it runs on the CPU, except for what asks for one.
#include <cstdio>
#include <cstring>

#include "tagma/cuda.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
  constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();
  const auto h = tg::dense<"hidden", 16>(x, tg::relu);
  const auto loss = tg::mean(tg::square(tg::dense<"out", 2>(h) - y));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.05}, tg::in_scope<"hidden", "out">);
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  tg::session session(program, {.seed = 1, .gpu = {.memory_fraction = 0.1, .allow_growth = true}});

  tg::tensor<float> inputs(tg::shape{8, 4}), targets(tg::shape{8, 2});
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs.data()[i] = static_cast<float>(i * 7 % 16) / 16;
  for (std::size_t i = 0; i < targets.size(); ++i) targets.data()[i] = static_cast<float>(i % 3) / 2;
  float first = 0, last = 0;
  for (int i = 0; i < 20; ++i) {
    last = std::get<0>(session.run(tg::fetch(loss, train), x = inputs, y = targets));
    if (i == 0) first = last;
  }
  std::printf("loss %g, after 20 steps %g\n", static_cast<double>(first), static_cast<double>(last));
  if (!(last < first)) return 1;

  const auto asked = tg::compile([=] { return tg::outputs(tg::on<tg::gpu<0>>(loss)); });
  try {
    tg::session needs_a_gpu(asked, {.seed = 1, .gpu = {.memory_fraction = 0.1, .allow_growth = true}});
    std::printf("a GPU was found\n");
  } catch (const tg::error& e) {
    std::printf("%s\n", e.what());
    return std::strstr(e.what(), "/device:GPU:0 but available devices are") == nullptr;
  }
  return 0;
}
