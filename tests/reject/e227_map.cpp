// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E227
// mentions: long
#include <cstdint>
#include <string>

#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto lengths = tg::datasets::range(3).map([](const std::string& x) { return x.size(); });
#else
const auto twice = tg::datasets::range(3).map([](std::int64_t x) { return 2 * x; });
#endif

int main() {}
