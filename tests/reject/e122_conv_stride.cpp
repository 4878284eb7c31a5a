// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E122
// mentions: {0, 0}
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 6>();
constexpr auto filter = tg::placeholder<"filter", float, 5, 5, 6, 8>();
#ifdef REJECT
const auto y = tg::conv2d<tg::conv_options{.stride = 0}>(images, filter);
#else
const auto y = tg::conv2d<tg::conv_options{.stride = 2}>(images, filter);
#endif

int main() {}
