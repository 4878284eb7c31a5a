// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E060
// mentions: float, 784, 300
// mentions: float, 784, 10
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 10>();

int main() {
  const auto v = tg::variable<"w", float, 784, 300>(tg::zeros);
#ifdef REJECT
  (void)tg::compile([=] { return tg::outputs(tg::sum(v), tg::sum(tg::variable<"w", float, 784, 10>(tg::zeros))); });
#else
  (void)tg::compile([=] { return tg::outputs(tg::sum(v), tg::sum(tg::variable<"u", float, 784, 10>(tg::zeros))); });
#endif
}
