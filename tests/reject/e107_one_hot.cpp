// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E107
// mentions: float
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto ids = tg::placeholder<"ids", float, tg::dyn>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::one_hot<3>(ids);
#else
[[maybe_unused]] const auto y = tg::one_hot<3>(tg::cast<int>(ids));
#endif

int main() {}
