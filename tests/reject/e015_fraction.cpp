// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E015
// mentions: int, 784
// mentions: double
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto i = tg::placeholder<"i", std::int32_t, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = i * 0.5;
#else
[[maybe_unused]] const auto y = i * 2;
#endif

int main() {}
