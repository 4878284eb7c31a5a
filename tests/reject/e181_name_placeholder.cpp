// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: placeholder<
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  (void)tg::placeholder("x");
#else
  (void)tg::placeholder<"x", float, tg::dyn>();
#endif
}
