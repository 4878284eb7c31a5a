// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E318
// mentions: gru
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5, 4>();
constexpr auto state = tg::placeholder<"state", float, tg::dyn, 3>();

int main() {
#ifdef REJECT
  (void)tg::gru<"layer", 3>(x, state);
#else
  (void)state, (void)tg::gru<"layer", 3>(x);
#endif
}
