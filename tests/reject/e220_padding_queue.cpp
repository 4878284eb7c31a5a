// SPDX-License-Identifier: BSL-1.0
// A padding queue needs to know the shapes of its components, which are of its type: without them it has none.
// [scenario 97]
// expect: TAGMA-E220
#include "tagma/queues.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  const tg::queue<> q({.kind = tg::queue_kind::padding});
#else
  const tg::queue<tg::spec<float, tg::dyn>> q({.kind = tg::queue_kind::padding});
#endif
  return static_cast<int>(q.size());
}
