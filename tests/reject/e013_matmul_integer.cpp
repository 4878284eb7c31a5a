// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E013
// mentions: 784, 300
// mentions: 300
#include <cstdint>

#include "tagma/quantized.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", std::int8_t, 784, 300>();
constexpr auto v = tg::placeholder<"v", std::uint8_t, 300>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul_integer(a, v);
#else
[[maybe_unused]] const auto c = tg::matmul_integer(a, tg::expand_dims<1>(v));
#endif

int main() {}
