// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: batch_norm<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::batch_norm("layer", x, tg::phase::training);
#else
  (void)tg::batch_norm<"layer">(x, tg::phase::training);
#endif
}
