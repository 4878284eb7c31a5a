// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E302
// mentions: minimize
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto w = tg::variable<"w", float>(tg::ones);

int main() {
#ifdef REJECT
  static_cast<void>(tg::minimize(w * 2.0f, tg::sgd{}, tg::after(tg::assign(w, 1.0f))(w)));
#else
  static_cast<void>(tg::minimize(w * 2.0f, tg::sgd{}, w));
#endif
}
