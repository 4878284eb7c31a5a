// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E062
// mentions: float, -1
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn>();

#ifdef REJECT
[[maybe_unused]] const auto t = tg::minimize(x, tg::sgd{});
#else
[[maybe_unused]] const auto t = tg::minimize(tg::sum(x), tg::sgd{});
#endif

int main() {}
