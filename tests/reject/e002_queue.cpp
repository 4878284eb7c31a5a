// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E002
// mentions: queue
#include "tagma/queues.hpp"

namespace tg = tagma;

int main() {
  const tg::container state;
#ifdef REJECT
  const tg::queue<tg::spec<float, 1, 2, 3, 4, 5, 6, 7>> q(state, "q");
#else
  const tg::queue<tg::spec<float, 1, 2, 3, 4, 5, 6>> q(state, "q");
#endif
  (void)q.size();
}
