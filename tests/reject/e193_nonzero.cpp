// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E193
// mentions: nonzero
// mentions: spec<float>
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float>();
constexpr auto v = tg::placeholder<"v", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::nonzero(x);
#else
[[maybe_unused]] const auto y = tg::nonzero(v);
#endif

int main() {}
