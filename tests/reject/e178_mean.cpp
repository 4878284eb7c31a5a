// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E178
// mentions: mean<0>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::mean(x, 0);
#else
  (void)tg::mean<0>(x);
#endif
}
