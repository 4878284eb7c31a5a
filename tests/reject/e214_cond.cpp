// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E214
// mentions: bool, 3
#include "tagma/control_flow.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
#ifdef REJECT
constexpr auto decides = tg::placeholder<"decides", bool, 3>();
#else
constexpr auto decides = tg::placeholder<"decides", bool>();
#endif

[[maybe_unused]] const auto y = tg::cond(
    decides, [](auto e) { return e * 2.0f; }, [](auto e) { return e; }, x);

int main() {}
