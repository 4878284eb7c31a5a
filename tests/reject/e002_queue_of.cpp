// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E002
// mentions: queue_of
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  constexpr tg::queue_of<"q", tg::queue_options{.kind = tg::queue_kind::padding}, tg::spec<float, -2>> q;
#else
  constexpr tg::queue_of<"q", tg::queue_options{.kind = tg::queue_kind::padding}, tg::spec<float, -1>> q;
#endif
  (void)tg::dequeue_many<2>(q);
}
