// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E181
// mentions: rms_norm<
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5, 4>();

int main() {
#ifdef REJECT
  (void)tg::rms_norm(x);
#else
  (void)tg::rms_norm<"layer">(x);
#endif
}
