// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E195
// mentions: unique
// mentions: spec<float, 3, 2>
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3, 2>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::unique(x);
#else
[[maybe_unused]] const auto y = tg::unique(tg::reshape<tg::dyn>(x));
#endif

int main() {}
