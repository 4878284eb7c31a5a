// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E233
// mentions: lambda
#include <optional>

#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto ones = tg::datasets::generator([] { return 1; });
#else
const auto ones = tg::datasets::generator([] { return std::optional<int>(1); });
#endif

int main() {}
