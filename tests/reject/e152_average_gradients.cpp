// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E152
// mentions: first
// mentions: other
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::variable<"first", float, 3>(tg::zeros);
constexpr auto b = tg::variable<"other", float, 3>(tg::zeros);
constexpr auto loss = tg::sum(a * b);

#ifdef REJECT
[[maybe_unused]] const auto pairs =
    tg::average_gradients(tg::compute_gradients(loss, a, b), tg::compute_gradients(loss, b, a));
#else
[[maybe_unused]] const auto pairs =
    tg::average_gradients(tg::compute_gradients(loss, a, b), tg::compute_gradients(loss, a, b));
#endif

int main() {}
