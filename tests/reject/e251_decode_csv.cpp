// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E251
// mentions: 2, 1
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto records = tg::placeholder<"records", std::string_view, tg::dyn>();

int main() {
#ifdef REJECT
  (void)tg::decode_csv<tg::csv_format{}, 2, 1>(records, tg::required_row<float, 2>);
#else
  (void)tg::decode_csv<tg::csv_format{}, 1, 2>(records, tg::required_row<float, 2>);
#endif
}
