// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E110
// mentions: one_hot
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto ids = tg::placeholder<"ids", int, tg::dyn>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::one_hot<0>(ids);
#else
[[maybe_unused]] const auto y = tg::one_hot<1>(ids);
#endif

int main() {}
