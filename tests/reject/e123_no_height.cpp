// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E123
// mentions: no elements
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::conv2d<"c", 4, tg::window(0, 3)>(x);
#else
  (void)tg::conv2d<"c", 4, tg::window(1, 3)>(x);
#endif
}
