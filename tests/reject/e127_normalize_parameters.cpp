// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E127
// mentions: float, -1, 28, 28, 6
// mentions: float, 5
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 6>();
constexpr auto five = tg::placeholder<"five", float, 5>();
constexpr auto six = tg::placeholder<"six", float, 6>();
#ifdef REJECT
const auto y = tg::layer_norm(images, five, six);
#else
const auto y = tg::layer_norm(images, six, six);
#endif

int main() {}
