// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E002
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] constexpr auto x = tg::placeholder<"x", float, 1, 2, 3, 4, 5, 6, 7>();
#else
[[maybe_unused]] constexpr auto x = tg::placeholder<"x", float, 1, 2, 3, 4, 5, 6>();
#endif

int main() {}
