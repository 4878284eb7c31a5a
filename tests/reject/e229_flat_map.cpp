// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E229
// mentions: long
#include <cstdint>

#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto all = tg::datasets::range(3).flat_map([](std::int64_t x) { return x; });
#else
const auto all = tg::datasets::range(3).flat_map([](std::int64_t x) { return tg::datasets::range(x); });
#endif

int main() {}
