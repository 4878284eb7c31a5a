// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E315
#include <chrono>

#include "tagma/queues.hpp"

namespace tg = tagma;

int main() {
  const tg::queue<tg::spec<float>, tg::spec<std::string_view>> q;
#ifdef REJECT
  q.enqueue(1.0f, "one", 2);
#else
  q.enqueue(1.0f, "one", tg::timeout(std::chrono::seconds(1)));
#endif
}
