// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E153
// mentions: string_view
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto words = tg::placeholder<"words", tg::string_element, 4>();
constexpr auto ids = tg::placeholder<"ids", int, 4>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::equal(words, words);
#else
[[maybe_unused]] const auto y = tg::equal(ids, ids);
#endif

int main() {}
