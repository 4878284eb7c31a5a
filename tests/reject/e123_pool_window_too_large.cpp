// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E123
// mentions: float, -1, 1, 4, 6
// mentions: {2, 2}
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto small = tg::placeholder<"small", float, tg::dyn, 1, 4, 6>();
#ifdef REJECT
const auto y = tg::average_pool<2>(small);
#else
const auto y = tg::average_pool<tg::window(1, 2)>(small);
#endif

int main() {}
