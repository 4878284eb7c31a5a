// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E011
// mentions: float, 3, 4
// mentions: float, 5, 4
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", float, 3, 4>();
constexpr auto b = tg::placeholder<"b", float, 5, 4>();

#ifdef REJECT
[[maybe_unused]] const auto c = a * b;
#else
[[maybe_unused]] const auto c = a * tg::placeholder<"c", float, 1, 4>();
#endif

int main() {}
