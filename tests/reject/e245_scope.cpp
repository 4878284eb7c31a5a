// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E245
// mentions: float
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::scope<"trial_1">(7.0f);
#else
[[maybe_unused]] const auto y = tg::scope<"trial_1">([](const auto& e) { return tg::negate(e); })(x);
#endif

int main() {}
