// SPDX-License-Identifier: BSL-1.0
// An optimizer of one's own, Lion (Chen et al. 2023), by its formula: it moves each weight by the sign of a mean of
// gradients.
#include <cstdio>
#include <tagma/tagma.hpp>

namespace tg = tagma;

struct lion {
  tg::rate learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.99, weight_decay = 0;

  static constexpr tg::fixed_string name = "lion";                                   // counts in "lion/step"
  static constexpr tg::optimizer_slots<1> slots{tg::optimizer_slot{"/lion_m"}};      // "kernel/lion_m"
  tg::optimizer_numbers<3> numbers() const { return {beta1, beta2, weight_decay}; }  // u.number(0), ...

  static constexpr void update(auto& u) {
    const auto m = u.slot(0);
    const auto g = u.gradient();
    const auto direction = sign(u.number(0) * m + (1 - u.number(0)) * g);
    u.set_value(u.value() - u.learning_rate() * (direction + u.number(2) * u.value()));
    u.set_slot(0, u.number(1) * m + (1 - u.number(1)) * g);
  }
};

int main() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  constexpr auto y = tg::placeholder<"y", float, tg::dyn, 1>();
  const auto hidden = tg::dense<"hidden", 16>(x, tg::tanh);
  const auto loss = tg::mean(tg::sigmoid_cross_entropy(tg::dense<"out", 1>(hidden), y));
  // Its numbers are values of the running program, and it takes all options that the library's own take.
  const auto train = tg::minimize(
      loss, lion{.learning_rate = tg::cosine_decay{.initial = 0.03, .decay_steps = 400}, .weight_decay = 1e-4},
      tg::clip_by_global_norm(1.0));

  tg::session session(tg::compile([=] { return tg::outputs(loss, train); }), {.seed = 1});
  const tg::tensor<float> points({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const tg::tensor<float> odd({4, 1}, {0, 1, 1, 0});
  const float before = session.run(loss, x = points, y = odd);
  for (int step = 0; step < 400; ++step) session.run(train, x = points, y = odd);
  std::printf("loss %.3f before, %.3f behind 400 steps\n", before, session.run(loss, x = points, y = odd));
}
