// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E123
// mentions: no elements
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::conv2d(x, tg::placeholder<"filter", float, 3, 0, 3, 4>());
#else
  (void)tg::conv2d(x, tg::placeholder<"filter", float, 3, 3, 3, 4>());
#endif
}
