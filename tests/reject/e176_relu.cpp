// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E176
// mentions: relu
// mentions: .output
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto normal = tg::batch_norm<"bn", tg::phase::training>(x);
#ifdef REJECT
  (void)tg::relu(normal);
#else
  (void)tg::relu(normal.output);
#endif
}
