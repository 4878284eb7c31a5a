// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E003
// mentions: -1, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto v = tg::variable<"v", float, tg::dyn, 3>(0);
#else
[[maybe_unused]] const auto v = tg::variable<"v", float, 4, 3>(0);
#endif

int main() {}
