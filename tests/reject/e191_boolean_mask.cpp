// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E191
// mentions: boolean_mask
// mentions: spec<bool, 3, 2>
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
constexpr auto m = tg::placeholder<"m", bool, 3, 2>();
constexpr auto v = tg::placeholder<"v", bool, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::boolean_mask(x, m);
#else
[[maybe_unused]] const auto y = tg::boolean_mask(x, v);
#endif

int main() {}
