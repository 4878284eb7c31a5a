// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E012
// mentions: spec<float, 5, 3>
// never: TAGMA-E172
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::compile([=] { return tg::outputs(tg::mean(tg::matmul(x, tg::variable<"w", float, 5, 3>(tg::zeros)))); });
#else
  (void)tg::compile([=] { return tg::outputs(tg::mean(tg::matmul(x, tg::variable<"w", float, 4, 3>(tg::zeros)))); });
#endif
}
