// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E280
// mentions: double
#include "tagma/sequence_examples.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto messages = tg::placeholder<"messages", std::string_view, tg::dyn>();

int main() {
#ifdef REJECT
  (void)tg::parse_sequence_example(messages, tg::feature_list<"n", double>);
#else
  (void)tg::parse_sequence_example(messages, tg::feature_list<"n", float>);
#endif
}
