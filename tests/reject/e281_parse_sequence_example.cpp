// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E281
// mentions: float
#include "tagma/sequence_examples.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto messages = tg::placeholder<"messages", std::string_view, tg::dyn>();
constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
#ifdef REJECT
  (void)tg::parse_sequence_example(x, tg::feature_list<"n", float>);
#else
  (void)tg::parse_sequence_example(messages, tg::feature_list<"n", float>);
#endif
}
