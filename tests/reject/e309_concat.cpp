// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E309
// mentions: concat<1>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::concat(x, x);
#else
  (void)tg::concat<1>(x, x);
#endif
}
