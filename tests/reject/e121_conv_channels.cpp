// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E121
// mentions: float, -1, 28, 28, 6
// mentions: float, 5, 5, 3, 8
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 6>();
constexpr auto three = tg::placeholder<"three", float, 5, 5, 3, 8>();
#ifdef REJECT
const auto y = tg::conv2d(images, three);
#else
const auto y = tg::conv2d<tg::conv_options{.groups = 2}>(images, three);
#endif

int main() {}
