// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E295
// mentions: evenly
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 10, 6>();

#ifdef REJECT
[[maybe_unused]] const auto y =
    tg::transformer_block<"b", 2, 8, tg::transformer_options{.attention = {.rotary = true}}>(x);
#else
[[maybe_unused]] const auto y =
    tg::transformer_block<"b", 3, 8, tg::transformer_options{.attention = {.rotary = true}}>(x);
#endif

int main() {}
