// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E161
// mentions: weights
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr auto w = tg::variable<"weights", float, 3>(tg::ones);
  constexpr auto v = tg::variable<"v", float, 3>(tg::ones);
  const auto one = tg::minimize(tg::mean(w), tg::adagrad{});
#ifdef REJECT
  const auto other = tg::minimize(tg::sum(w), tg::adagrad{.initial_accumulator = 1});
#else
  const auto other = tg::minimize(tg::sum(v), tg::adagrad{.initial_accumulator = 1});
#endif
  (void)tg::compile([=] { return tg::outputs(one, other); });
}
