// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E023
// mentions: float, -1, 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::squeeze<1>(x);
#else
[[maybe_unused]] const auto y = tg::squeeze<1>(tg::placeholder<"y", float, 3, 1>());
#endif

int main() {}
