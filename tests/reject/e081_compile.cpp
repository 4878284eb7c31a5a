// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E081
// mentions: tile
// mentions: 4294967296
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 4, 4>();

int main() {
#ifdef REJECT
  (void)tg::compile([=] { return tg::outputs(tg::sum(tg::tile<1073741824, 4611686018427387904>(x))); });
#else
  (void)tg::compile([=] { return tg::outputs(tg::sum(tg::tile<1024, 1024>(x))); });
#endif
}
