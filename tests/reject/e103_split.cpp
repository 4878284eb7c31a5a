// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E103
// mentions: 784
// mentions: 5
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::split<1, 5>(x);
#else
[[maybe_unused]] const auto y = tg::split<1, 4>(x);
#endif

int main() {}
