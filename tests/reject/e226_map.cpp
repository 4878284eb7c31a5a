// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E226
// mentions: lambda
#include <cstdint>
#include <string>

#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto names = tg::datasets::range(3).map([](std::int64_t) { return "x"; });
#else
const auto names = tg::datasets::range(3).map([](std::int64_t) { return std::string("x"); });
#endif

int main() {}
