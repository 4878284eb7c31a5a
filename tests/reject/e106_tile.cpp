// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E106
// mentions: 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::tile<2>(x);
#else
[[maybe_unused]] const auto y = tg::tile<2, 1>(x);
#endif

int main() {}
