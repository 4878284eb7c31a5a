// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E258
// mentions: float
#include "tagma/images.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto files = tg::placeholder<"files", std::string_view, tg::dyn>();
constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
#ifdef REJECT
  (void)tg::decode_image<28, 28, 1>(x);
#else
  (void)tg::decode_image<28, 28, 1>(files);
#endif
}
