// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E252
// mentions: double
#include <utility>

#include "tagma/containers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::preloaded<"images", float, 4>();

int main() {
  const tg::container state;
#ifdef REJECT
  tg::tensor<double> elements({4});
#else
  tg::tensor<float> elements({4});
#endif
  tg::preload(state, images, std::move(elements));
}
