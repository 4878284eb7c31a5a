// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E120
// mentions: float, -1, 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 6>();
constexpr auto row = tg::placeholder<"row", float, tg::dyn, 784>();
constexpr auto filter = tg::placeholder<"filter", float, 5, 5, 6, 8>();
#ifdef REJECT
const auto y = tg::conv2d(row, filter);
#else
const auto y = tg::conv2d(images, filter);
#endif

int main() {}
