// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E126
// mentions: 2, 2, 2, 2
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 6>();
#ifdef REJECT
const auto y = tg::max_pool<2, tg::pool_options{.padding = 2}>(images);
#else
const auto y = tg::max_pool<2, tg::pool_options{.padding = 1}>(images);
#endif

int main() {}
