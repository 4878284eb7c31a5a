// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E310
// mentions: tagma::compile([=]
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  tg::session session([=] { return tg::outputs(tg::sum(x)); });
#else
  tg::session session(tg::compile([=] { return tg::outputs(tg::sum(x)); }));
#endif
}
