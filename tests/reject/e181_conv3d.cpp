// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: conv3d<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::conv3d(x, 16, 3);
#else
  (void)tg::conv3d<"layer", 16, 3>(x);
#endif
}
