// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E013
// mentions: float, 2, 3, 4
// mentions: float, 5, 4, 3
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", float, 2, 3, 4>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul(a, tg::placeholder<"b", float, 5, 4, 3>());
#else
[[maybe_unused]] const auto c = tg::matmul(a, tg::placeholder<"b", float, 2, 4, 3>());
#endif

int main() {}
