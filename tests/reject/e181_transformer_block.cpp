// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: transformer_block<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5, 4>();

int main() {
#ifdef REJECT
  (void)tg::transformer_block<2, 8>("layer", x);
#else
  (void)tg::transformer_block<"layer", 2, 8>(x);
#endif
}
