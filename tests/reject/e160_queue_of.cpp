// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: queue_of
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  constexpr tg::queue_of<"_foo", tg::queue_options{}, tg::spec<float, 3>> q;
#else
  constexpr tg::queue_of<"foo", tg::queue_options{}, tg::spec<float, 3>> q;
#endif
  (void)tg::dequeue(q);
}
