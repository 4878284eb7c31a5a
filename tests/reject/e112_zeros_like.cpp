// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E112
// mentions: zeros_like
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto words = tg::placeholder<"words", tg::string_element, 2>();
constexpr auto flags = tg::placeholder<"flags", bool, 2>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::zeros_like(words);
#else
[[maybe_unused]] const auto y = tg::zeros_like(flags);
#endif

int main() {}
