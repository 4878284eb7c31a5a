// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E176
// mentions: conv2d
// mentions: .output
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
  const auto gamma = tg::variable<"gamma", float, 1>(tg::ones);
  const auto beta = tg::variable<"beta", float, 1>(tg::zeros);
  const auto normal = tg::batch_norm(images, gamma, beta);
#ifdef REJECT
  (void)tg::conv2d<"layer", 3, 3>(normal);
#else
  (void)tg::conv2d<"layer", 3, 3>(normal.output);
#endif
}
