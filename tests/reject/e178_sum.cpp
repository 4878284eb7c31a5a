// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E178
// mentions: sum<0>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::sum(x, {0, 1});
#else
  (void)tg::sum<0, 1>(x);
#endif
}
