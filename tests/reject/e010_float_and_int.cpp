// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E010
// mentions: float, 784
// mentions: int, 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 784>();
constexpr auto i = tg::placeholder<"i", std::int32_t, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = x + i;
#else
[[maybe_unused]] const auto y = x + tg::cast<float>(i);
#endif

int main() {}
