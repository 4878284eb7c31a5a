// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E263
// mentions: float, -1, 6
// mentions: float, -1, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 6>();

#ifdef REJECT
constexpr tg::extent units = 3;
#else
constexpr tg::extent units = 6;
#endif

[[maybe_unused]] const auto y = tg::repeat<"block", 4>([](const auto& h) { return tg::dense<"d", units>(h); })(x);

int main() {}
