// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E202
// mentions: float, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();

[[maybe_unused]] const auto y = tg::scan(tg::carry(h, h), tg::over(x), [](auto c, auto d, auto e) {
#ifdef REJECT
  return tg::next(c + d + e);
#else
  return tg::next(c + d + e, d);
#endif
});

int main() {}
