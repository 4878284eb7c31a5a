// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E151
// mentions: float, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
  const auto y = tg::negate(x);
  const auto z = tg::exp(y) + x;
  tg::session session(tg::compile([=] { return tg::outputs(z); }));
  const tg::tensor<float> value(tg::shape{3});
#ifdef REJECT
  session.run(z, x = value, x = value);
#else
  session.run(z, x = value, y = value);
#endif
}
