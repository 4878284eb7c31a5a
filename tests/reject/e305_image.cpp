// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E305
// mentions: depth
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto image = tg::placeholder<"image", float, tg::dyn, 8, 8, 2>();
constexpr auto volume = tg::placeholder<"volume", float, tg::dyn, 8, 8, 8, 2>();

int main() {
#ifdef REJECT
  static_cast<void>(tg::conv3d<"conv", 3, 3>(image));
#else
  static_cast<void>(tg::conv3d<"conv", 3, 3>(volume));
#endif
}
