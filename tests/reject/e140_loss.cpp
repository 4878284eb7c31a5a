// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E140
// mentions: 17
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto wrong = tg::placeholder<"wrong", float, tg::dyn, 17>();
constexpr auto right = tg::placeholder<"right", float, tg::dyn, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::mean_squared_error(x, wrong);
#else
[[maybe_unused]] const auto y = tg::mean_squared_error(x, right);
#endif

int main() {}
