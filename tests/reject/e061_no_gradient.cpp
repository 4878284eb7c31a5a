// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E061
// mentions: assign
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto w = tg::variable<"w", float>(tg::zeros);
constexpr auto v = tg::variable<"v", float>(tg::zeros);

int main() {
  const auto copy = tg::assign(v, w);
#ifdef REJECT
  (void)tg::compile([=] { return tg::outputs(tg::gradient(copy, w)); });
#else
  (void)tg::compile([=] { return tg::outputs(tg::gradient(w * w, w)); });
#endif
}
