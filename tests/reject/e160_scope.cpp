// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: _trial
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto v = tg::variable<"v", float, 3>(tg::zeros);

#ifdef REJECT
[[maybe_unused]] const auto y = tg::scope<"_trial">(v);
#else
[[maybe_unused]] const auto y = tg::scope<"trial">(v);
#endif

int main() {}
