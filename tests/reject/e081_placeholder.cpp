// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E081
// mentions: 4294967296
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] constexpr auto x = tg::placeholder<"x", float, 4294967296, tg::dyn, 4294967296>();
#else
[[maybe_unused]] constexpr auto x = tg::placeholder<"x", float, 4294967296, tg::dyn, 1024>();
#endif

int main() {}
