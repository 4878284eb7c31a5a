// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E161
// mentions: sgd/step
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr auto w = tg::variable<"w", float, 3>(tg::ones);
#ifdef REJECT
  constexpr auto step = tg::variable<"sgd/step", std::int64_t>(tg::ones);
#else
  constexpr auto step = tg::variable<"sgd/step", std::int64_t>(tg::zeros, tg::not_trainable);
#endif
  const auto train = tg::minimize(tg::mean(w), tg::sgd{});
  (void)tg::compile([=] { return tg::outputs(train, tg::cast<float>(step)); });
}
