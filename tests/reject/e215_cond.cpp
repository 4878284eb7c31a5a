// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E215
// mentions: float, 3
#include "tagma/control_flow.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
constexpr auto decides = tg::placeholder<"decides", bool>();

[[maybe_unused]] const auto y = tg::cond(
    decides, [](auto e) { return tg::exp(e); },
#ifdef REJECT
    [](auto e) { return tg::sum(e); },
#else
    [](auto e) { return e; },
#endif
    x);

int main() {}
