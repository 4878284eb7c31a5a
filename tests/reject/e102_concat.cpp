// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E102
// mentions: 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#define EIGHT x, x, x, x, x, x, x, x
#define SIXTY_FOUR EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT

#ifdef REJECT
[[maybe_unused]] const auto y = tg::concat<0>(SIXTY_FOUR, x);
#else
[[maybe_unused]] const auto y = tg::concat<0>(SIXTY_FOUR);
#endif

int main() {}
