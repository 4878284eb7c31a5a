// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: conv2d<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::conv2d<32, 3>("layer", x);
#else
  (void)tg::conv2d<"layer", 32, 3>(x);
#endif
}
