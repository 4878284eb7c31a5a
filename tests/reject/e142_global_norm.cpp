// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E142
// mentions: double
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
constexpr auto wrong = tg::placeholder<"wrong", double, 4>();
constexpr auto right = tg::placeholder<"right", float, 4>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::global_norm(x, wrong);
#else
[[maybe_unused]] const auto y = tg::global_norm(x, right);
#endif

int main() {}
