// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E131
// mentions: 17
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 5>();
constexpr auto h = tg::placeholder<"h", float, tg::dyn, 3>();
constexpr auto gates_bias = tg::placeholder<"gates_bias", float, 6>();
constexpr auto kernel = tg::placeholder<"kernel", float, 8, 3>();
constexpr auto bias = tg::placeholder<"bias", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::gru_cell(x, h, tg::placeholder<"wrong", float, 8, 17>(), gates_bias, kernel, bias);
#else
[[maybe_unused]] const auto y = tg::gru_cell(x, h, tg::placeholder<"right", float, 8, 6>(), gates_bias, kernel, bias);
#endif

int main() {}
