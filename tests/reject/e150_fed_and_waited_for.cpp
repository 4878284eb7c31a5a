// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E150
// mentions: negate
// mentions: float, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto v = tg::variable<"v", float, 3>(tg::zeros);
  const auto y = tg::negate(v);
  const auto other = tg::exp(v);
  const auto z = tg::after(y)(tg::sum(y + other));
  tg::session session(tg::compile([=] { return tg::outputs(z); }));
#ifdef REJECT
  session.run(z, y = tg::tensor<float>(tg::shape{3}));
#else
  session.run(z, other = tg::tensor<float>(tg::shape{3}));
#endif
}
