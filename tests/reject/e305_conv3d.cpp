// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E305
// mentions: conv3d
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4, 8, 8, 2>();

int main() {
#ifdef REJECT
  static_cast<void>(tg::conv3d<"conv", 3, tg::volume(5, 3, 3)>(x));
#else
  static_cast<void>(tg::conv3d<"conv", 3, tg::volume(4, 3, 3)>(x));
#endif
}
