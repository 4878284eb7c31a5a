// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E231
// mentions: long
#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto rows = tg::datasets::range(3).unbatch();
#else
const auto rows = tg::datasets::range(3).batch(2).unbatch();
#endif

int main() {}
