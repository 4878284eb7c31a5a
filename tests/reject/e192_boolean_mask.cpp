// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E192
// mentions: boolean_mask
// mentions: spec<float, 4, 2>
// mentions: spec<bool, 3>
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 4, 2>();
constexpr auto m = tg::placeholder<"m", bool, 3>();
constexpr auto v = tg::placeholder<"v", bool, tg::dyn>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::boolean_mask(x, m);
#else
[[maybe_unused]] const auto y = tg::boolean_mask(x, v);
#endif

int main() {}
