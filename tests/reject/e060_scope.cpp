// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E060
// mentions: trial/w
// mentions: float, 784, 300
// mentions: float, 784, 10
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto v = tg::scope<"trial">(tg::variable<"w", float, 784, 300>(tg::zeros));
#ifdef REJECT
  const auto u = tg::scope<"trial">(tg::variable<"w", float, 784, 10>(tg::zeros));
#else
  const auto u = tg::scope<"other">(tg::variable<"w", float, 784, 10>(tg::zeros));
#endif
  (void)tg::compile([=] { return tg::outputs(tg::sum(v), tg::sum(u)); });
}
