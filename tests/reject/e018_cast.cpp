// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E018
// mentions: string_view
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto y = tg::cast<float>(tg::placeholder<"s", std::string_view, 4>());
#else
[[maybe_unused]] const auto y = tg::cast<float>(tg::placeholder<"s", std::int8_t, 4>());
#endif

int main() {}
