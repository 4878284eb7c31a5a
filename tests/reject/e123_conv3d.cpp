// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E123
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::conv3d<"c", 4, tg::volume(3, 0, 3)>(x);
#else
  (void)tg::conv3d<"c", 4, tg::volume(3, 1, 3)>(x);
#endif
}
