// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E254
// mentions: float
#include "tagma/iterators.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::iterator_of<"numbers", tg::spec<float>> numbers;

int main() {
#ifdef REJECT
  tg::set_iterator(tg::container(), numbers, tg::datasets::range(3));
#else
  tg::set_iterator(tg::container(), numbers, tg::datasets::range(3).map([](std::int64_t) { return 1.0f; }));
#endif
}
