// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E175
// mentions: double
// mentions: tagma::sgd{
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto w = tg::variable<"w", float, 3>(tg::ones);
  const auto pairs = tg::compute_gradients(tg::mean(w), w);
#ifdef REJECT
  (void)tg::apply_gradients(0.01, pairs);
#else
  (void)tg::apply_gradients(tg::sgd{.learning_rate = 0.01}, pairs);
#endif
}
