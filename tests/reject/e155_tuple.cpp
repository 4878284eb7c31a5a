// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E155
// mentions: tuple
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::on<"/cpu:0">(std::tuple{x, x});
#else
[[maybe_unused]] const auto y = tg::on<"/cpu:0">(tg::outputs(x, x));
#endif

int main() {}
