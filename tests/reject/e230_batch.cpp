// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E230
// mentions: point
#include <tuple>

#include "tagma/datasets.hpp"

namespace tg = tagma;

struct point {
  float x = 0, y = 0;
};
const auto points = tg::datasets::from_tensors(point{});

#ifdef REJECT
const auto batches = points.batch(2);
#else
const auto batches = points.map([](const point& p) { return std::tuple(p.x, p.y); }).batch(2);
#endif

int main() {}
