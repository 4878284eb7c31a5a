// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E154
// mentions: 5
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::on<5>(x);
#else
[[maybe_unused]] const auto y = tg::on<tg::cpu<5>>(x);
#endif

int main() {}
