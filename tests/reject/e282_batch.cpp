// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E282
// mentions: point
#include "tagma/datasets.hpp"
#include "tagma/struct_batches.hpp"

namespace tg = tagma;

struct point {
  float x = 0;
};
struct points {
#ifdef REJECT
  tg::tensor<double> x;
#else
  tg::tensor<float> x;
#endif
};
template <>
struct tg::datasets::members<point> {
  static auto tie(point& p) { return std::tie(p.x); }
  using batch = points;
};

int main() {
  (void)tg::datasets::range(3).map([](std::int64_t) { return point{}; }).batch(2);
}
