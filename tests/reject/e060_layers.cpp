// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E060
// mentions: a/kernel
// mentions: float, 4, 3
// mentions: float, 4, 5
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto a = tg::dense<"a", 3>(x);
#ifdef REJECT
  const auto b = tg::dense<"a", 5>(x);
#else
  const auto b = tg::dense<"b", 5>(x);
#endif
  (void)tg::compile([=] { return tg::outputs(a, b); });
}
