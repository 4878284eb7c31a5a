// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E173
// mentions: , int
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto loss = tg::mean(x);
#ifdef REJECT
  (void)tg::compile([=] { return tg::outputs(loss, 1); });
#else
  (void)tg::compile([=] { return tg::outputs(loss); });
#endif
}
