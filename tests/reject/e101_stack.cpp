// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E101
// mentions: stack
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::stack<3>(x, x);
#else
[[maybe_unused]] const auto y = tg::stack<2>(x, x);
#endif

int main() {}
