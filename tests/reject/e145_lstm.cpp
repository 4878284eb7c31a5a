// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E145
// mentions: 17
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto wrong = tg::placeholder<"wrong", float, tg::dyn, 17, tg::dyn>();
constexpr auto right = tg::placeholder<"right", float, tg::dyn, 5, 17>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::lstm<"l", 4>(wrong);
#else
[[maybe_unused]] const auto y = tg::lstm<"l", 4>(right);
#endif

int main() {}
