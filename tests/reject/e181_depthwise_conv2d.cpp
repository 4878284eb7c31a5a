// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: depthwise_conv2d<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::depthwise_conv2d<3>("layer", x);
#else
  (void)tg::depthwise_conv2d<"layer", 3>(x);
#endif
}
