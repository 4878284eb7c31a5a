// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E020
// mentions: float, -1, 784
// mentions: -3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::moments<-3>(x);
#else
[[maybe_unused]] const auto y = tg::moments<-2>(x);
#endif

int main() {}
