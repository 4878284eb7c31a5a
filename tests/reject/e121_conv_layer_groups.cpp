// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E121
// mentions: float, -1, 28, 28, 6
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 6>();
#ifdef REJECT
const auto y = tg::conv2d<"c", 8, 3, tg::conv_options{.groups = 4}>(images);
#else
const auto y = tg::conv2d<"c", 8, 3, tg::conv_options{.groups = 2}>(images);
#endif

int main() {}
