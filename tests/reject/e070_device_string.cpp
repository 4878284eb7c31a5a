// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E070
// mentions: /gpu:first
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
static_assert(tg::device_string<"/gpu:first">.id == 0);
#else
static_assert(tg::device_string<"/gpu:0">.id == 0);
#endif

int main() {}
