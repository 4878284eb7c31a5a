// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E002
// mentions: units
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::dense<"layer", -3>(x);
#else
  (void)tg::dense<"layer", 3>(x);
#endif
}
