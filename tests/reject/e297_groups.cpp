// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E297
// mentions: float, -1, 8, 8, 6
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 6>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::group_norm<"g", 4>(x);
#else
[[maybe_unused]] const auto y = tg::group_norm<"g", 3>(x);
#endif

int main() {}
