// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E020
// mentions: float, -1, 784
// mentions: 4
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::expand_dims<4>(x);
#else
[[maybe_unused]] const auto y = tg::expand_dims<2>(x);
#endif

int main() {}
