// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: variable<
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  (void)tg::variable<float, 3>("w", tg::zeros);
#else
  (void)tg::variable<"w", float, 3>(tg::zeros);
#endif
}
