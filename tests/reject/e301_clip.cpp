// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E301
// mentions: minimize
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"body", 3>(x)));
#ifdef REJECT
  static_cast<void>(tg::minimize(loss, tg::sgd{}, tg::clip_by_norm(1.0), tg::clip_by_value(-1.0, 1.0)));
#else
  static_cast<void>(tg::minimize(loss, tg::sgd{}, tg::clip_by_value(-1.0, 1.0)));
#endif
}
