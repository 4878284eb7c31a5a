// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E266
// mentions: float, -1, 6
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 6>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::repeat<"block", 4>(tg::tanh(x));
#else
[[maybe_unused]] const auto y = tg::repeat<"block", 4>([](const auto& h) { return tg::tanh(h); })(x);
#endif

int main() {}
