// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E229
// mentions: vector
#include <vector>

#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto rows = tg::datasets::zip(tg::datasets::range(2), std::vector<int>{1, 2});
#else
const auto rows = tg::datasets::zip(tg::datasets::range(2), tg::datasets::from_slices(std::vector<int>{1, 2}));
#endif

int main() {}
