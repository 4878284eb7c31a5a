// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: group_norm<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5, 4>();

int main() {
#ifdef REJECT
  (void)tg::group_norm<2>("layer", x);
#else
  (void)tg::group_norm<"layer", 2>(x);
#endif
}
