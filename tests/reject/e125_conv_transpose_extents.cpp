// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E125
// mentions: float, -1, 14, 14, 8
// mentions: float, 5, 5, 6, 8
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto y = tg::placeholder<"y", float, tg::dyn, 14, 14, 8>();
constexpr auto filter = tg::placeholder<"filter", float, 5, 5, 6, 8>();
constexpr tg::conv_options twice{.stride = 2, .padding = tg::same_padding};
#ifdef REJECT
const auto x = tg::conv2d_transpose<twice, 30, 28>(y, filter);
#else
const auto x = tg::conv2d_transpose<twice, 27, 28>(y, filter);
#endif

int main() {}
