// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E014
// mentions: int
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 784>();
constexpr auto i = tg::placeholder<"i", std::int32_t, 784>();

#ifdef REJECT
[[maybe_unused]] const auto g = tg::gradient(i, i);
#else
[[maybe_unused]] const auto g = tg::gradient(x, x);
#endif

int main() {}
