// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: gru<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5, 4>();

int main() {
#ifdef REJECT
  (void)tg::gru<3>(x);
#else
  (void)tg::gru<"layer", 3>(x);
#endif
}
