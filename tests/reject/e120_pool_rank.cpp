// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E120
// mentions: float, -1, 784
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 6>();
constexpr auto row = tg::placeholder<"row", float, tg::dyn, 784>();
#ifdef REJECT
const auto y = tg::max_pool<2>(row);
#else
const auto y = tg::max_pool<2>(images);
#endif

int main() {}
