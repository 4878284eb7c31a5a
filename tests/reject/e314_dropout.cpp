// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E314
// mentions: tagma::dropout(x, 0.5
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::dropout<"drop">(x, 0.5, tg::phase::training);
#else
  (void)tg::dropout(x, 0.5, tg::phase::training);
#endif
}
