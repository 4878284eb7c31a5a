// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E123
// mentions: float, -1, 4, 4, 6
// mentions: float, 5, 5, 6, 8
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto small = tg::placeholder<"small", float, tg::dyn, 4, 4, 6>();
constexpr auto filter = tg::placeholder<"filter", float, 5, 5, 6, 8>();
#ifdef REJECT
const auto y = tg::conv2d(small, filter);
#else
const auto y = tg::conv2d<tg::conv_options{.padding = tg::same_padding}>(small, filter);
#endif

int main() {}
