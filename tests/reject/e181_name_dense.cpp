// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: dense<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::dense<3>("layer", x);
#else
  (void)tg::dense<"layer", 3>(x);
#endif
}
