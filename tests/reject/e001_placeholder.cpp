// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E001
// mentions: long double
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] constexpr auto x = tg::placeholder<"x", long double, 3>();
#else
[[maybe_unused]] constexpr auto x = tg::placeholder<"x", double, 3>();
#endif

int main() {}
