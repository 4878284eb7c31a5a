// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E256
// mentions: int
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto messages = tg::placeholder<"messages", std::string_view, tg::dyn>();

int main() {
#ifdef REJECT
  (void)tg::parse_example(messages, tg::feature<"n", std::int32_t>);
#else
  (void)tg::parse_example(messages, tg::feature<"n", std::int64_t>);
#endif
}
