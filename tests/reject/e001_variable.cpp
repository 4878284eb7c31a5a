// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E001
// mentions: char
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto v = tg::variable<"v", char, 3>(0);
#else
[[maybe_unused]] const auto v = tg::variable<"v", std::int8_t, 3>(0);
#endif

int main() {}
