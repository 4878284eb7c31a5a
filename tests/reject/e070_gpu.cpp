// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E070
// mentions: -1>
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
static_assert(tg::gpu<-1>::spec.id == 0);
#else
static_assert(tg::gpu<0>::spec.id == 0);
#endif

int main() {}
