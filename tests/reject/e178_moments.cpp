// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E178
// mentions: moments<0>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::moments(x, 0);
#else
  (void)tg::moments<0>(x);
#endif
}
