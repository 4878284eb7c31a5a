// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: conv1d<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5, 4>();

int main() {
#ifdef REJECT
  (void)tg::conv1d<8, 3>("layer", x);
#else
  (void)tg::conv1d<"layer", 8, 3>(x);
#endif
}
