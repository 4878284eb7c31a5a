// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E012
// mentions: float, 784, 300
// mentions: float, 200, 10
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", float, 784, 300>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul(a, tg::placeholder<"b", float, 200, 10>());
#else
[[maybe_unused]] const auto c = tg::matmul(a, tg::placeholder<"b", float, 300, 10>());
#endif

int main() {}
