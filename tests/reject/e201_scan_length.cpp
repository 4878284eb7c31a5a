// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E201
// mentions: scan<10>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::scan(tg::carry(h), tg::over(), [](auto c) { return tg::next(c + c); });
#else
[[maybe_unused]] const auto y = tg::scan<4>(tg::carry(h), tg::over(), [](auto c) { return tg::next(c + c); });
#endif

int main() {}
