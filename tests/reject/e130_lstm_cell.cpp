// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E130
// mentions: 17
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5>();
constexpr auto state = tg::placeholder<"state", float, tg::dyn, 3>();
constexpr auto bias = tg::placeholder<"bias", float, 12>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::lstm_cell(x, state, state, tg::placeholder<"wrong", float, 17, 12>(), bias);
#else
[[maybe_unused]] const auto y = tg::lstm_cell(x, state, state, tg::placeholder<"right", float, 8, 12>(), bias);
#endif

int main() {}
