// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: /conv
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 1>();

#ifdef REJECT
constexpr auto y = tg::conv2d<"/conv", 2, 3>(x);
#else
constexpr auto y = tg::conv2d<"conv", 2, 3>(x);
#endif

int main() {}
