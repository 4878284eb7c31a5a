// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E010
// mentions: float, 2, 3
// mentions: double, 3, 4
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", float, 2, 3>();
constexpr auto b = tg::placeholder<"b", double, 3, 4>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul(a, b);
#else
[[maybe_unused]] const auto c = tg::matmul(tg::cast<double>(a), b);
#endif

int main() {}
