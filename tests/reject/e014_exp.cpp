// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E014
// mentions: int, 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto i = tg::placeholder<"i", std::int32_t, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::exp(i);
#else
[[maybe_unused]] const auto y = tg::exp(tg::cast<float>(i));
#endif

int main() {}
