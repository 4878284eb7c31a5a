// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E109
// mentions: 4, 3
// mentions: 2, 4
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto v = tg::variable<"v", float, 4, 3>(tg::static_initializer<tg::initializer_kind::zeros>{});
constexpr auto ids = tg::placeholder<"ids", int, 2>();
constexpr auto rows = tg::placeholder<"rows", float, 2, 4>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::scatter_add(v, ids, rows);
#else
[[maybe_unused]] const auto y = tg::scatter_add(v, ids, tg::reshape<2, 3>(tg::placeholder<"six", float, 6>()));
#endif

int main() {}
