// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: a:b
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
constexpr auto x = tg::placeholder<"a:b", float, 3>();
#else
constexpr auto x = tg::placeholder<"a.b/c_d-1", float, 3>();
#endif

int main() {}
