// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E012
// mentions: 784, 300
// mentions: 200, 10
#include <cstdint>

#include "tagma/quantized.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", std::int8_t, 784, 300>();
constexpr auto b = tg::placeholder<"b", std::int8_t, 200, 10>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul_integer(a, b);
#else
[[maybe_unused]] const auto c = tg::matmul_integer(a, tg::placeholder<"d", std::int8_t, 300, 10>());
#endif

int main() {}
