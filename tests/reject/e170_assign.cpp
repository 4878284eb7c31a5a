// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E170
// mentions: auto h2 =
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  auto h = tg::dense<"layer", 3>(x);
#ifdef REJECT
  for (int i = 0; i < 3; ++i) h = tg::dense<"deeper", 3>(h);
#else
  const auto h2 = tg::dense<"deeper", 3>(h);
  (void)h2;
#endif
}
