// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E022
// mentions: float, 3, -1
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto y = tg::flatten(tg::placeholder<"x", float, 3, tg::dyn>());
#else
[[maybe_unused]] const auto y = tg::flatten(tg::placeholder<"x", float, tg::dyn, 3>());
#endif

int main() {}
