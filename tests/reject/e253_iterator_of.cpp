// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E253
// mentions: eight components
#include "tagma/iterators.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  constexpr tg::iterator_of<"nothing"> it;
  (void)it;
#else
  constexpr tg::iterator_of<"numbers", tg::spec<float>> it;
  (void)it;
#endif
}
