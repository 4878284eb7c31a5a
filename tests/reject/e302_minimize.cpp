// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E302
// mentions: not_trainable
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
const auto w = tg::variable<"head/kernel", float, 3, 1>(tg::glorot_uniform);
const auto fixed = tg::variable<"fixed", float, 3, 1>(tg::zeros, tg::not_trainable);
int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"body", 3>(x)));
#ifdef REJECT
  static_cast<void>(tg::minimize(loss, tg::sgd{}, fixed));
#else
  static_cast<void>(tg::minimize(loss, tg::sgd{}, w));
#endif
}
