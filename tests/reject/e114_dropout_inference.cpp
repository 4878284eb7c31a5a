// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E114
// mentions: dropout
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
constexpr auto rate = tg::placeholder<"rate", double>();

int main() {
#ifdef REJECT
  (void)tg::dropout(x, rate, tg::phase::inference);
#else
  (void)tg::dropout(x, tg::cast<float>(rate), tg::phase::inference);
#endif
}
