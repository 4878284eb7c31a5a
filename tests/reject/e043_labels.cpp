// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E043
// mentions: float, -1, 10
// mentions: spec<float, -1>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 10>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::sparse_softmax_cross_entropy(x, tg::placeholder<"y", float, tg::dyn>());
#else
[[maybe_unused]] const auto y = tg::sparse_softmax_cross_entropy(x, tg::placeholder<"y", std::int32_t, tg::dyn>());
#endif

int main() {}
