// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: -norm
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();

int main() {
#ifdef REJECT
  (void)tg::layer_norm<"-norm">(x);
#else
  (void)tg::layer_norm<"norm-">(x);
#endif
}
