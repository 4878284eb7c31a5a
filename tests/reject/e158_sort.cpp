// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E158
// mentions: sort
// mentions: spec<float>
#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float>();
constexpr auto v = tg::placeholder<"v", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::sort(x);
#else
[[maybe_unused]] const auto y = tg::sort(v);
#endif

int main() {}
