// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E141
// mentions: float
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float>();
constexpr auto rows = tg::placeholder<"rows", float, tg::dyn, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::cosine_distance(x, x);
#else
[[maybe_unused]] const auto y = tg::cosine_distance(rows, rows);
#endif

int main() {}
