// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E176
// mentions: char
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
#ifdef REJECT
  (void)(x + "one");
#else
  (void)(x + 1);
#endif
}
