// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E296
// mentions: float, -1, 10, 6
// mentions: bool, -1, 9
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 10, 6>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::multi_head_attention<"a", 3>(x, tg::placeholder<"wrong", bool, tg::dyn, 9>());
#else
[[maybe_unused]] const auto y = tg::multi_head_attention<"a", 3>(x, tg::placeholder<"right", bool, tg::dyn, 10>());
#endif

int main() {}
