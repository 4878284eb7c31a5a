// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: cell+1
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4, 3>();

int main() {
#ifdef REJECT
  (void)tg::gru<"cell+1", 2>(x);
#else
  (void)tg::gru<"cell1", 2>(x);
#endif
}
