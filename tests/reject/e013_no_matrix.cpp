// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E013
// mentions: float, 784, 300
// mentions: float, 300
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", float, 784, 300>();
constexpr auto v = tg::placeholder<"v", float, 300>();

#ifdef REJECT
[[maybe_unused]] const auto c = tg::matmul(a, v);
#else
[[maybe_unused]] const auto c = tg::matmul(a, tg::expand_dims<1>(v));
#endif

int main() {}
