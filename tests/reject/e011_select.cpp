// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E011
// mentions: bool, 4
// mentions: float, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::select(tg::placeholder<"c", bool, 4>(), a, 0.0f);
#else
[[maybe_unused]] const auto c = tg::select(tg::placeholder<"c", bool, 3>(), a, 0.0f);
#endif

int main() {}
