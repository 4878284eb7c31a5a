// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E259
// mentions: 28
#include "tagma/images.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto files = tg::placeholder<"files", std::string_view, tg::dyn>();

int main() {
#ifdef REJECT
  (void)tg::decode_image<28, 28, 2>(files);
#else
  (void)tg::decode_image<28, 28, 3>(files);
#endif
}
