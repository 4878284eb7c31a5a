// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E295
// mentions: float, -1, 10, 6
// mentions: 4
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 10, 6>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::multi_head_attention<"a", 4>(x);
#else
[[maybe_unused]] const auto y = tg::multi_head_attention<"a", 3>(x);
#endif

int main() {}
