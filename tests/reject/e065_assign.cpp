// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E065
// mentions: float, 784, 10
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto w = tg::variable<"w", float, 784, 10>(tg::static_initializer<tg::initializer_kind::zeros>{});
constexpr auto x = tg::placeholder<"x", float, 784, 10>();

#ifdef REJECT
[[maybe_unused]] const auto u = tg::assign(x, w);
#else
[[maybe_unused]] const auto u = tg::assign(w, x);
#endif

int main() {}
