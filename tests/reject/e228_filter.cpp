// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E228
// mentions: long
#include <cstdint>

#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto odd = tg::datasets::range(3).filter([](std::int64_t x) { return x % 2; });
#else
const auto odd = tg::datasets::range(3).filter([](std::int64_t x) { return x % 2 == 1; });
#endif

int main() {}
