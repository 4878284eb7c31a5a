// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E268
// mentions: point
#include <tuple>

#include "tagma/datasets.hpp"
#include "tagma/file_cache.hpp"

namespace tg = tagma;

struct point {
  float x = 0, y = 0;
};
const auto points = tg::datasets::from_tensors(point{});

#ifdef REJECT
const auto kept = points.cache("points.cache");
#else
const auto kept = points.map([](const point& p) { return std::tuple(p.x, p.y); }).cache("points.cache");
#endif

int main() {}
