// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E143
// mentions: 17
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
constexpr auto wrong = tg::placeholder<"wrong", float, 17>();
constexpr auto right = tg::placeholder<"right", float>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::clip_by_norm(x, wrong);
#else
[[maybe_unused]] const auto y = tg::clip_by_norm(x, right);
#endif

int main() {}
