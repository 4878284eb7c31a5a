// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E104
// mentions: 784
// mentions: 785
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();

#ifdef REJECT
[[maybe_unused]] const auto y = tg::slice<tg::all_of_axis, tg::range{0, 785}>(x);
#else
[[maybe_unused]] const auto y = tg::slice<tg::range{0, 785}, tg::range{0, 784}>(x);
#endif

int main() {}
