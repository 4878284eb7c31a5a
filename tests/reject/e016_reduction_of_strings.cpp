// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E016
// mentions: string_view
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto y = tg::reduce_max(tg::placeholder<"s", std::string_view, 4>());
#else
[[maybe_unused]] const auto y = tg::reduce_max(tg::placeholder<"s", float, 4>());
#endif

int main() {}
