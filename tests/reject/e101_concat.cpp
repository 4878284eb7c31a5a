// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E101
// mentions: 784
// mentions: 300
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto z = tg::placeholder<"z", float, tg::dyn, 300>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::concat<0>(x, z);
#else
[[maybe_unused]] const auto y = tg::concat<1>(x, z);
#endif

int main() {}
