// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E317
// mentions: max_pool<2>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::max_pool(x, 2);
#else
  (void)tg::max_pool<2>(x);
#endif
}
