// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E113
// mentions: int
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto y = tg::random_uniform<int, 3>();
#else
[[maybe_unused]] const auto y = tg::random_uniform<float, 3>();
#endif

int main() {}
