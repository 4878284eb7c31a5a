// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E010
// mentions: lstm_cell
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5>();
constexpr auto state = tg::placeholder<"state", float, tg::dyn, 3>();
constexpr auto kernel = tg::placeholder<"kernel", float, 8, 12>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::lstm_cell(x, state, state, kernel, tg::placeholder<"bias", double, 12>());
#else
[[maybe_unused]] const auto y = tg::lstm_cell(x, state, state, kernel, tg::placeholder<"bias", float, 12>());
#endif

int main() {}
