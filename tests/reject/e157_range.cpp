// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E157
// mentions: vector
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
[[maybe_unused]] const auto w = tg::variable<"w", float, 3>(std::vector<float>{1, 2, 3});
#else
[[maybe_unused]] const auto w = tg::variable<"w", float, 3>(tg::tensor<float>({3}, {1, 2, 3}));
#endif

int main() {}
