// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E172
// mentions: std::tuple<
// mentions: tagma::outputs(
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto loss = tg::mean(x);
  (void)loss;
#ifdef REJECT
  (void)tg::compile([=] { return std::tuple(loss); });
#else
  (void)tg::compile([=] { return tg::outputs(loss); });
#endif
}
