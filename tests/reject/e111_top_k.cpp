// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E111
// mentions: 784
// mentions: 785
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::top_k<785>(x);
#else
[[maybe_unused]] const auto y = tg::top_k<784>(x);
#endif

int main() {}
