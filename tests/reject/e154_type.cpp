// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E154
// mentions: int
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::on<int>(x);
#else
[[maybe_unused]] const auto y = tg::on<tg::none>(x);
#endif

int main() {}
