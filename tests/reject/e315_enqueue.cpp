// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E315
#include "tagma/queues.hpp"

namespace tg = tagma;

int main() {
  const tg::queue<tg::spec<std::int64_t>> q;
#ifdef REJECT
  q.enqueue(3.7);
#else
  q.enqueue(3);
#endif
}
