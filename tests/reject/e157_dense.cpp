// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E157
// mentions: char
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)tg::dense<"layer", 3>(x, tg::relu, "zeros");
#else
  (void)tg::dense<"layer", 3>(x, tg::relu, tg::zeros);
#endif
}
