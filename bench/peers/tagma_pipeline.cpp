// SPDX-License-Identifier: BSL-1.0
// A step is a batch of 128 numbers that come from a range through a map and a shuffle with a buffer of 10,000, made by
// another thread ahead.
#include "protocol.hpp"
#include "tagma/base/version.hpp"
#include "tagma/datasets.hpp"

namespace tg = tagma;

int main() {
  auto batches = tg::datasets::range(1'000'000)
                     .map([](std::int64_t i) { return static_cast<float>(i) * 2.0f; })
                     .shuffle(10'000)
                     .repeat()
                     .batch(128)
                     .prefetch(2)
                     .iterator();
  return peers::serve(TAGMA_VERSION, [&](std::int64_t) { return static_cast<double>(batches.next()[0]); });
}
