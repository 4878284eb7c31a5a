// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E200
// mentions: float, 5, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();

#ifdef REJECT
constexpr int axis = 2;
#else
constexpr int axis = 0;
#endif
[[maybe_unused]] const auto y =
    tg::scan(tg::carry(h), tg::over<axis>(x), [](auto c, auto e) { return tg::next(c + e); });

int main() {}
