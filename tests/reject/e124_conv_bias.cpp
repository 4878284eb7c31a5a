// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E124
// mentions: float, 5, 5, 6, 8
// mentions: float, 6
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 6>();
constexpr auto filter = tg::placeholder<"filter", float, 5, 5, 6, 8>();
constexpr auto six = tg::placeholder<"six", float, 6>();
constexpr auto eight = tg::placeholder<"eight", float, 8>();
#ifdef REJECT
const auto y = tg::conv2d(images, filter, six);
#else
const auto y = tg::conv2d(images, filter, eight);
#endif

int main() {}
