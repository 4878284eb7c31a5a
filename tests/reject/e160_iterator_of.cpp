// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: iterator_of
#include "tagma/iterators.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  constexpr tg::iterator_of<"-batches", tg::spec<float, 3>> it;
#else
  constexpr tg::iterator_of<"batches", tg::spec<float, 3>> it;
#endif
  (void)tg::get_next(it);
}
