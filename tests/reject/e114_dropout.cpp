// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E114
// mentions: 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
constexpr auto rate = tg::placeholder<"rate", double>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::dropout(x, rate);
#else
[[maybe_unused]] const auto y = tg::dropout(x, tg::cast<float>(rate));
#endif

int main() {}
