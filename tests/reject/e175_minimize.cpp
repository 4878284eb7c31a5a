// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E175
// mentions: double
// mentions: tagma::sgd{
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto w = tg::variable<"w", float, 3>(tg::ones);
#ifdef REJECT
  (void)tg::minimize(tg::mean(w), 0.01);
#else
  (void)tg::minimize(tg::mean(w), tg::sgd{.learning_rate = 0.01});
#endif
}
