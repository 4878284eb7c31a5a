// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E316
// mentions: short
#include <cstdint>

#include "tagma/quantized.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", std::uint8_t, tg::dyn, 3>();
constexpr auto b = tg::placeholder<"b", std::int16_t, 3, 4>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul_integer(a, b);
#else
[[maybe_unused]] const auto c = tg::matmul_integer(a, tg::cast<std::int8_t>(b));
#endif

int main() {}
