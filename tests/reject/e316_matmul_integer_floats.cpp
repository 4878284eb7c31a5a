// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E316
// mentions: float, 2, 3
#include "tagma/quantized.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", float, 2, 3>();
constexpr auto b = tg::placeholder<"b", float, 3, 4>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul_integer(a, b);
#else
[[maybe_unused]] const auto c = tg::matmul(a, b);
#endif

int main() {}
