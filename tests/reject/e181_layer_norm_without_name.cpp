// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: layer_norm<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::layer_norm(x);
#else
  (void)tg::layer_norm<"layer">(x);
#endif
}
