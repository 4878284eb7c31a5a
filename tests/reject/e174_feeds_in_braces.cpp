// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E174
// mentions: x = images, y = labels
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto l = tg::dense<"layer", 3>(x);
  const auto loss = tg::mean(l);
  const auto program = tg::compile([=] { return tg::outputs(loss, l); });
  tg::session session(program);
  const tg::tensor<float> images({2, 4});
#ifdef REJECT
  (void)session.run(loss, {x = images, tg::no_timeout()});
#else
  (void)session.run(loss, x = images, tg::no_timeout());
#endif
}
