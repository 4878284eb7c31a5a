// SPDX-License-Identifier: BSL-1.0
// Loops with several numbers written in place, which nvcc's front end and the host compiler must tell apart alike; and
// two expressions that the front end cannot tell apart, of which one number has a name.
#include <cmath>
#include <cstdio>

#include "tagma/control_flow.hpp"
#include "tagma/cuda.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
  const auto chain = (tg::maximum(tg::abs(x * 1.5f + 0.25f) - x, 0.1f) * 0.5f + 0.75f) * 0.5f;
  const auto named = x * 2.0f + x * tg::constant<"three">(3.0f) - 1.0f;
  const auto functions =
      tg::select(x > 0.5f, tg::maximum(tg::minimum(x, 1.0f), 0.0f), x * 0.3f) + tg::power(x, 2.0f) / 7.0f;
  const auto drawn = tg::dropout(tg::dropout(x, 0.5f) + 1.0f, 0.25f) * 2.0f;
  const auto start = tg::variable<"start", float, 4>(tg::ones);
  const auto steps = tg::variable<"steps", float, 3, 4>(tg::ones, tg::not_trainable);
  const auto repeated = tg::scan(tg::carry(start), tg::over(steps), [](const auto& h, const auto& e) {
    return tg::next(tg::tanh(h * 0.5f + 0.25f) - 0.125f * h + e);
  });
  const auto sum = tg::sum(std::get<0>(repeated));
  const auto loss = tg::mean(chain) + tg::mean(named) + tg::mean(functions) + tg::mean(drawn) * 0.1f + sum * 0.01f;
  const auto train = tg::minimize(loss * 0.5f + 2.0f, tg::adam{});
  const auto program = tg::compile([=] { return tg::outputs(chain, named, functions, loss, train); });
  tg::session session(program, {.seed = 1, .gpu = {.memory_fraction = 0.1, .allow_growth = true}});
  const tg::tensor<float> in({1, 4}, {-2.0f, 0.25f, 0.75f, 3.0f});
  const auto [c, n, f, l, done] = session.run(tg::fetch(chain, named, functions, loss, train), x = in);
  int wrong = 0;
  for (tg::extent i = 0; i < 4; ++i) {
    const float v = in(0, i);
    const float a = std::fabs(v * 1.5f + 0.25f) - v;
    const float chosen = v > 0.5f ? std::fmax(std::fmin(v, 1.0f), 0.0f) : v * 0.3f;
    wrong += !(std::fabs(c(0, i) - ((a > 0.1f ? a : 0.1f) * 0.5f + 0.75f) * 0.5f) <= 1e-5f);
    wrong += !(std::fabs(n(0, i) - (v * 5 - 1)) <= 1e-5f);
    wrong += !(std::fabs(f(0, i) - (chosen + v * v / 7)) <= 1e-5f);
  }
  wrong += !std::isfinite(static_cast<float>(l));
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
