// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E128
// mentions: float, 6
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto row = tg::placeholder<"row", float, 6>();
constexpr auto rows = tg::placeholder<"rows", float, tg::dyn, 6>();
constexpr auto six = tg::placeholder<"six", float, 6>();
#ifdef REJECT
const auto y = tg::batch_norm(row, six, six);
#else
const auto y = tg::batch_norm(rows, six, six);
#endif

int main() {}
