// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E217
// mentions: float, 3
#include "tagma/control_flow.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

[[maybe_unused]] const auto y = tg::while_loop(
    tg::carry(x), [](auto c) { return tg::sum(c) < 10.0f; },
#ifdef REJECT
    [](auto c) { return tg::next(tg::sum(c)); }
#else
    [](auto c) { return tg::next(c + 1.0f); }
#endif
);

int main() {}
