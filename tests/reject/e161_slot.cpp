// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E161
// mentions: w/adam_m
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  constexpr auto w = tg::variable<"w", float, 3>(tg::ones);
#ifdef REJECT
  constexpr auto m = tg::variable<"w/adam_m", float, 3>(tg::ones);
#else
  constexpr auto m = tg::variable<"w/adam", float, 3>(tg::ones);
#endif
  const auto train = tg::minimize(tg::mean(w * m), tg::adam{});
  (void)tg::compile([=] { return tg::outputs(train); });
}
