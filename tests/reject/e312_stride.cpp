// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E312
// mentions: tagma::conv_options{
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();

int main() {
#ifdef REJECT
  (void)tg::conv2d<"c", 4, 3, 2>(x);
#else
  (void)tg::conv2d<"c", 4, 3, tg::conv_options{.stride = 2}>(x);
#endif
}
