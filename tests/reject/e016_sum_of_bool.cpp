// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E016
// mentions: bool
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto b = tg::placeholder<"b", bool, 4>();

#ifdef REJECT
[[maybe_unused]] const auto y = b + b;
#else
[[maybe_unused]] const auto y = b || b;
#endif

int main() {}
