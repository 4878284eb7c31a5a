// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E247
// mentions: names of files
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr tg::reader_of<"r"> r;
constexpr tg::queue_of<"numbers", tg::queue_options{}, tg::spec<float>> numbers;
constexpr tg::queue_of<"files", tg::queue_options{}, tg::spec<std::string_view>> files;

int main() {
#ifdef REJECT
  (void)tg::read(r, numbers);
#else
  (void)tg::read(r, files);
#endif
}
