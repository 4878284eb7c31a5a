// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E067
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto w = tg::variable<"w", float>(tg::zeros);
constexpr auto v = tg::variable<"v", float>(tg::zeros);

int main() {
  const auto p = w + tg::assign(v, 1.0f);
  const auto q = v + tg::assign(w, 1.0f);
  tg::session session(tg::compile([=] { return tg::outputs(p, q); }));
#ifdef REJECT
  session.run(tg::fetch(p, q));
#else
  session.run(p);
  session.run(q);
#endif
}
