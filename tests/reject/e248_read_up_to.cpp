// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E248
// mentions: read_up_to
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::reader_of<"r"> r;
constexpr tg::queue_of<"files", tg::queue_options{}, tg::spec<std::string_view>> files;

int main() {
#ifdef REJECT
  (void)tg::read_up_to<0>(r, files);
#else
  (void)tg::read_up_to<1>(r, files);
#endif
}
