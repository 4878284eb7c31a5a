// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E081
// mentions: 72057594037927937
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] constexpr auto w = tg::variable<"w", std::uint8_t, 72057594037927937>(tg::zeros);
#else
[[maybe_unused]] constexpr auto w = tg::variable<"w", std::uint8_t, 72057594037927936>(tg::zeros);
#endif

int main() {}
