// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E303
// mentions: learning_rate
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"body", 3>(x)));
#ifdef REJECT
  static_cast<void>(tg::minimize(loss, tg::sgd{}, tg::learning_rate(0.1)));
#else
  static_cast<void>(tg::minimize(loss, tg::sgd{}, tg::learning_rate(tg::mean(x))));
#endif
}
