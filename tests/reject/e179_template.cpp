// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E179
// mentions: phase::training
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"body", 3>(x)));
#ifdef REJECT
  static_cast<void>(tg::batch_norm<"bn", tg::phase::training>(x));
#else
  static_cast<void>(tg::batch_norm<"bn">(x, tg::phase::training));
#endif
}
