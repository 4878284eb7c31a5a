// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E064
// mentions: spec<float>
// mentions: float, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto w = tg::variable<"w", float>(tg::zeros);
constexpr auto v = tg::variable<"v", float>(tg::zeros);

int main() {
  const auto z = tg::variable<"z", float, 3>(tg::zeros);
#ifdef REJECT
  (void)tg::compile([=] { return tg::outputs(tg::gradient(w, z)); });
#else
  (void)tg::compile([=] { return tg::outputs(tg::gradient(tg::sum(z), z)); });
#endif
}
