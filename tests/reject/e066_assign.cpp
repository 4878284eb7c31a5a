// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E066
// mentions: float, 784, 10
// mentions: float, 784, 300
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto w = tg::variable<"w", float, 784, 10>(tg::static_initializer<tg::initializer_kind::zeros>{});

#ifdef REJECT
[[maybe_unused]] const auto u = tg::assign(w, tg::placeholder<"x", float, 784, 300>());
#else
[[maybe_unused]] const auto u = tg::assign(w, tg::placeholder<"x", float, 784, 10>());
#endif

int main() {}
