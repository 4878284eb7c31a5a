// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E176
// mentions: .output
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto gamma = tg::variable<"gamma", float, 4>(tg::ones);
  const auto beta = tg::variable<"beta", float, 4>(tg::zeros);
  const auto normal = tg::batch_norm(x, gamma, beta);
#ifdef REJECT
  (void)(normal + x);
#else
  (void)(normal.output + x);
#endif
}
