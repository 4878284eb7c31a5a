// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E013
// mentions: 2, 3, 4
// mentions: 5, 4, 3
#include <cstdint>

#include "tagma/quantized.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", std::int8_t, 2, 3, 4>();
constexpr auto b = tg::placeholder<"b", std::int8_t, 5, 4, 3>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul_integer(a, b);
#else
[[maybe_unused]] const auto c = tg::matmul_integer(a, tg::placeholder<"d", std::int8_t, 2, 4, 3>());
#endif

int main() {}
