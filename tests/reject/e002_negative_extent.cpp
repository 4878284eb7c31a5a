// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E002
// mentions: -2
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] constexpr auto x = tg::placeholder<"x", float, -2>();
#else
[[maybe_unused]] constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
#endif

int main() {}
