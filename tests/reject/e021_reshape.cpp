// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E021
// mentions: float, 4, 5
// mentions: 7, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 4, 5>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::reshape<7, 3>(x);
#else
[[maybe_unused]] const auto y = tg::reshape<10, 2>(x);
#endif

int main() {}
