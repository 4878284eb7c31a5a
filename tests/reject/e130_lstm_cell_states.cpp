// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E130
// mentions: one shape
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5>();
constexpr auto state = tg::placeholder<"state", float, tg::dyn, 3>();
constexpr auto kernel = tg::placeholder<"kernel", float, 8, 12>();
constexpr auto bias = tg::placeholder<"bias", float, 12>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::lstm_cell(x, state, tg::placeholder<"wrong", float, tg::dyn, 4>(), kernel, bias);
#else
[[maybe_unused]] const auto y = tg::lstm_cell(x, state, tg::placeholder<"right", float, tg::dyn, 3>(), kernel, bias);
#endif

int main() {}
