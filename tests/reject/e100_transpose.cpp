// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E100
// mentions: 784, 3
// mentions: 0, 1, 1
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::transpose<0, 1, 1>(x);
#else
[[maybe_unused]] const auto y = tg::transpose<0, 2, 1>(x);
#endif

int main() {}
