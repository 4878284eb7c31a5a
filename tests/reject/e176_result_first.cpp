// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E176
// mentions: view<const float>
// mentions: fed to a placeholder
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto t = tg::placeholder<"t", float, tg::dyn, 4>();
  const tg::tensor<float> result({2, 4});
  (void)t;
#ifdef REJECT
  (void)tg::maximum(result.rows(0, 1), x);
#else
  (void)tg::maximum(t, x);
  (void)result;
#endif
}
