// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E201
// mentions: float, 5, 3
// mentions: float, 6, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();
#ifdef REJECT
constexpr auto z = tg::placeholder<"z", float, 6, 3>();
#else
constexpr auto z = tg::placeholder<"z", float, 5, 3>();
#endif
[[maybe_unused]] const auto y =
    tg::scan(tg::carry(h), tg::over(x, z), [](auto c, auto e, auto f) { return tg::next(c + e * f); });

int main() {}
