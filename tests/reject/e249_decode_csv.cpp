// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E249
// mentions: float
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto records = tg::placeholder<"records", std::string_view, tg::dyn>();
constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
#ifdef REJECT
  (void)tg::decode_csv(x, tg::required<float>);
#else
  (void)tg::decode_csv(records, tg::required<float>);
#endif
}
