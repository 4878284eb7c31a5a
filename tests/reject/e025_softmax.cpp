// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E025
// mentions: spec<float>
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::softmax(x);
#else
[[maybe_unused]] const auto y = tg::softmax(tg::expand_dims<0>(x));
#endif

int main() {}
