// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E306
// mentions: batch_norm
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  const auto moved = tg::update_averages(tg::batch_norm<"bn">(x, tg::phase::inference));
#else
  const auto moved = tg::update_averages(tg::batch_norm<"bn">(x, tg::phase::training));
#endif
  static_cast<void>(tg::compile([=] { return tg::outputs(moved); }));
}
