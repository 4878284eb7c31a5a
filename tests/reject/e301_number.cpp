// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E301
// mentions: accumulate
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"body", 3>(x)));
#ifdef REJECT
  static_cast<void>(tg::accumulate(loss, tg::sgd{}, 4));
#else
  static_cast<void>(tg::accumulate(loss, tg::sgd{}));
#endif
}
