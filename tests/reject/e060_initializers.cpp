// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E060
// mentions: weights
// mentions: initializer_kind::zeros
// mentions: initializer_kind::glorot_uniform
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto v = tg::variable<"weights", float, 4, 3>(tg::zeros);
#ifdef REJECT
  const auto w = tg::variable<"weights", float, 4, 3>(tg::glorot_uniform);
#else
  const auto w = tg::variable<"weights", float, 4, 3>(tg::zeros);
#endif
  (void)tg::compile([=] { return tg::outputs(tg::sum(v), tg::sum(w)); });
}
