// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E108
// mentions: 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto ids = tg::placeholder<"ids", int, 1, 2, 3, 4, 5, 6>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::gather(x, ids);
#else
[[maybe_unused]] const auto y = tg::gather(x, tg::reshape<1, 2, 3, 4, 30>(ids));
#endif

int main() {}
