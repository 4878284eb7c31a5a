// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E063
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 10>();

int main() {
  const auto loss = tg::sum(x);
#ifdef REJECT
  (void)tg::compile([=] { return tg::outputs(tg::minimize(loss, tg::sgd{})); });
#else
  (void)tg::compile([=] { return tg::outputs(loss); });
#endif
}
