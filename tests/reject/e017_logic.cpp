// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E017
// mentions: float
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 4>();

#ifdef REJECT
[[maybe_unused]] const auto y = x && x;
#else
[[maybe_unused]] const auto y = x > 0.0f && x < 1.0f;
#endif

int main() {}
