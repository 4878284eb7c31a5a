// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E160
// mentions: running mean
#include "tagma/tagma.hpp"

namespace tg = tagma;

#ifdef REJECT
constexpr auto v = tg::variable<"running mean", float, 3>(tg::zeros, tg::not_trainable);
#else
constexpr auto v = tg::variable<"running_mean", float, 3>(tg::zeros, tg::not_trainable);
#endif

int main() {}
