// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: TAGMA-E160 constant
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  (void)tg::constant<"">(0.5f);
#else
  (void)tg::constant<"0">(0.5f);
#endif
}
