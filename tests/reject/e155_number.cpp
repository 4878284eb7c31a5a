// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E155
// mentions: float
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::on<tg::cpu<0>>(7.0f);
#else
[[maybe_unused]] const auto y = tg::on<tg::cpu<0>>(tg::constant<"seven">(7.0f));
#endif

int main() {}
