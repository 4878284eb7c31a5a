// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E301
// mentions: apply_gradients
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
const auto w = tg::variable<"head/kernel", float, 3, 1>(tg::glorot_uniform);
int main() {
  const auto loss = tg::mean(tg::dense<"head", 1>(tg::dense<"body", 3>(x)));
#ifdef REJECT
  static_cast<void>(tg::apply_gradients(tg::sgd{}, tg::compute_gradients(loss, w), w));
#else
  static_cast<void>(tg::apply_gradients(tg::sgd{}, tg::compute_gradients(loss, w), tg::clip_by_norm(1.0)));
#endif
}
