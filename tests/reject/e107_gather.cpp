// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E107
// mentions: float
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto ids = tg::placeholder<"ids", float, tg::dyn>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::gather(x, ids);
#else
[[maybe_unused]] const auto y = tg::gather(x, tg::cast<int>(ids));
#endif

int main() {}
