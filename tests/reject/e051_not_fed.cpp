// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E051
// mentions: float, -1, 784
// mentions: images
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"images", float, tg::dyn, 784>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 10>();

int main() {
  const auto total = tg::sum(x);
  tg::session session(tg::compile([=] { return tg::outputs(total); }));
#ifdef REJECT
  session.run(total);
#else
  session.run(total, x = tg::tensor<float>());
#endif
}
