// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E227
// mentions: long
#include <cstdint>

#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto count = tg::datasets::range(3).map([n = 0](std::int64_t) mutable { return ++n; });
#else
const auto count = tg::datasets::range(3).map([](std::int64_t x) { return x + 1; });
#endif

int main() {}
