// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: scale/~
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::fixed_string layer = "scale";
#ifdef REJECT
constexpr auto v = tg::variable<layer / "~", float>(tg::ones);
#else
constexpr auto v = tg::variable<layer / ".-_", float>(tg::ones);
#endif

int main() {}
