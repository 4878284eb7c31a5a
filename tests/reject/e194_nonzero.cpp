// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E194
// mentions: nonzero
// mentions: string_view
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", tg::string_element, 3>();
constexpr auto v = tg::placeholder<"v", float, 3>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::nonzero(x);
#else
[[maybe_unused]] const auto y = tg::nonzero(v);
#endif

int main() {}
