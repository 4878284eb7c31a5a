// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E026
// mentions: spec<float, 784>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::dense<"d", 10>(x);
#else
[[maybe_unused]] const auto y = tg::dense<"d", 10>(tg::expand_dims<0>(x));
#endif

int main() {}
