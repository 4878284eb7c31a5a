// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E020
// mentions: float, -1, 784
// mentions: 4
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::squeeze<4>(x);
#else
[[maybe_unused]] const auto y = tg::squeeze<0>(tg::placeholder<"y", float, 1, 3>());
#endif

int main() {}
