// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E177
// mentions: tagma::relu
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
#ifdef REJECT
  (void)tg::conv2d<"layer", 3, 3>(images, "relu");
#else
  (void)tg::conv2d<"layer", 3, 3>(images, tg::relu);
#endif
}
