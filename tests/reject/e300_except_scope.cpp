// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E300
// mentions: features
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"feature", 3>(x)));
#ifdef REJECT
  const auto train = tg::minimize(loss, tg::sgd{}, tg::except_scope<"features">);
#else
  const auto train = tg::minimize(loss, tg::sgd{}, tg::except_scope<"feature">);
#endif
  static_cast<void>(tg::compile([=] { return tg::outputs(train); }));
}
