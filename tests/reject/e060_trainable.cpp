// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E060
// mentions: weights
// mentions: diagnose::trainable
// mentions: not_trainable_tag
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto v = tg::variable<"weights", float, 3>(tg::zeros);
#ifdef REJECT
  const auto w = tg::variable<"weights", float, 3>(tg::zeros, tg::not_trainable);
#else
  const auto w = tg::variable<"weights", float, 3>(tg::zeros);
#endif
  (void)tg::compile([=] { return tg::outputs(tg::sum(v), tg::sum(w)); });
}
