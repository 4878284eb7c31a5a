// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E246
// mentions: record_bytes
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
#ifdef REJECT
  constexpr tg::reader_of<"r", tg::reader_options{.kind = tg::reader_kind::fixed_length}> r;
  (void)tg::records_produced(r);
#else
  constexpr tg::reader_of<"r", tg::reader_options{.kind = tg::reader_kind::fixed_length, .record_bytes = 4}> r;
  (void)tg::records_produced(r);
#endif
}
