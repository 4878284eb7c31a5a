// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E255
// mentions: float
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto messages = tg::placeholder<"messages", std::string_view, tg::dyn>();
constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
#ifdef REJECT
  (void)tg::decode_raw<std::uint8_t>(x);
#else
  (void)tg::decode_raw<std::uint8_t>(messages);
#endif
}
