// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: _a
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
constexpr auto v = tg::variable<"_a", float, 3>(tg::zeros);
#else
constexpr auto v = tg::variable<"a_", float, 3>(tg::zeros);
#endif

int main() {}
