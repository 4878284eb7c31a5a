// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E250
// mentions: bool
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto records = tg::placeholder<"records", std::string_view, tg::dyn>();

int main() {
#ifdef REJECT
  (void)tg::decode_csv(records, tg::required<bool>);
#else
  (void)tg::decode_csv(records, tg::required<std::int32_t>);
#endif
}
