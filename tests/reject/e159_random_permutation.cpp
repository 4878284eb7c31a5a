// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E159
// mentions: -1
#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto y = tg::random_permutation<-1>();
#else
[[maybe_unused]] const auto y = tg::random_permutation<1>();
#endif

int main() {}
