// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: conv2d<
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
#ifdef REJECT
  (void)tg::conv2d<32, 3>(images);
#else
  (void)tg::conv2d<"layer", 32, 3>(images);
#endif
}
