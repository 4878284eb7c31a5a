// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E179
// mentions: phase::training
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::batch_norm<"bn">(x);
#else
  (void)tg::batch_norm<"bn">(x, tg::phase::inference);
#endif
}
