// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E149
// mentions: variable
// mentions: float, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto v = tg::variable<"v", float, 3>(tg::zeros);
  const auto y = tg::negate(v);
  const auto z = tg::exp(y);
  tg::session session(tg::compile([=] { return tg::outputs(z); }));
#ifdef REJECT
  session.run(z, v = tg::tensor<float>(tg::shape{3}));
#else
  session.run(z, y = tg::tensor<float>(tg::shape{3}));
#endif
}
