// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E190
// mentions: boolean_mask
// mentions: spec<float, 3>
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3, 2>();
constexpr auto m = tg::placeholder<"m", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::boolean_mask(x, m);
#else
[[maybe_unused]] const auto y = tg::boolean_mask(x, m > 0.0f);
#endif

int main() {}
