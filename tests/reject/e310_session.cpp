// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E310
// mentions: tagma::compile([=]
// never: no member
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  tg::session session(tg::outputs(tg::sum(x)));
  (void)session.run(tg::sum(x), x = tg::tensor<float>());
#else
  tg::session session(tg::compile([=] { return tg::outputs(tg::sum(x)); }));
  (void)session.run(tg::sum(x), x = tg::tensor<float>());
#endif
}
