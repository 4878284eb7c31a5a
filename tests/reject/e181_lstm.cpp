// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: lstm<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5, 4>();

int main() {
#ifdef REJECT
  (void)tg::lstm<3>("layer", x);
#else
  (void)tg::lstm<"layer", 3>(x);
#endif
}
