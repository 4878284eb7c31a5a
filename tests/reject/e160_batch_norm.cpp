// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: norm#1
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();

int main() {
#ifdef REJECT
  (void)tg::batch_norm<"norm#1">(x, tg::phase::training);
#else
  (void)tg::batch_norm<"norm_1">(x, tg::phase::training);
#endif
}
