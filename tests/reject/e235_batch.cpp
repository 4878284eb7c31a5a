// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E235
// mentions: float
#include "tagma/input.hpp"

namespace tg = tagma;

#ifdef REJECT
using source = float();
#else
using source = std::tuple<float, std::int64_t>();
#endif

[[maybe_unused]] inline auto batches(source* made) {
  return tg::batch<tg::spec<float>, tg::spec<std::int64_t>>(made, {.batch_size = 8});
}

int main() {}
