// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E311
// mentions: spec<float, -1, 4>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto total = tg::sum(x);
  tg::session session(tg::compile([=] { return tg::outputs(total); }));
  const float rows[2][4] = {};
#ifdef REJECT
  (void)session.run(total, x = rows);
#else
  (void)session.run(total, x = tg::view<const float>(&rows[0][0], {2, 4}));
#endif
}
