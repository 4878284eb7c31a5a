// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: hidden layer
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();

#ifdef REJECT
constexpr auto y = tg::dense<"hidden layer", 2>(x);
#else
constexpr auto y = tg::dense<"hidden_layer", 2>(x);
#endif

int main() {}
