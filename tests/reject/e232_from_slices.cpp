// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E232
// mentions: float
#include "tagma/datasets.hpp"

namespace tg = tagma;

#ifdef REJECT
const auto rows = tg::datasets::from_slices(1.0f);
#else
const auto rows = tg::datasets::from_slices(tg::tensor<float>({3}));
#endif

int main() {}
