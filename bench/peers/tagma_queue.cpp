// SPDX-License-Identifier: BSL-1.0
// A step puts 1,000 tuples of a float and an integer into a queue and takes each out again.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/queues.hpp"

namespace tg = tagma;

int main() {
  const tg::queue<tg::spec<float>, tg::spec<std::int64_t>> q({.capacity = 10});
  return peers::serve(TAGMA_VERSION, [&](std::int64_t) {
    double sum = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
      q.enqueue(static_cast<float>(i), i);
      const auto taken = q.dequeue();
      sum += static_cast<double>(taken.get<0>()[0]);
    }
    return sum;
  });
}
