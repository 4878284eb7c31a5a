// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: multi_head_attention<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5, 4>();

int main() {
#ifdef REJECT
  (void)tg::multi_head_attention<2>("layer", x);
#else
  (void)tg::multi_head_attention<"layer", 2>(x);
#endif
}
