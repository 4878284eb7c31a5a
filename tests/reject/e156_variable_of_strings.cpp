// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E156
// mentions: string_view
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto word = tg::variable<"word", tg::string_element>("text");
#else
[[maybe_unused]] const auto id = tg::variable<"id", int>(7);
#endif

int main() {}
