// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E105
// mentions: 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::pad<tg::padding{1, 1}, tg::padding{}>(x, x);
#else
[[maybe_unused]] const auto y = tg::pad<tg::padding{1, 1}, tg::padding{}>(x, 0.5f);
#endif

int main() {}
