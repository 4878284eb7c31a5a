// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E180
// mentions: char
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  [[maybe_unused]] static constexpr const char* name = "layer";
#ifdef REJECT
  (void)tg::dense<name, 3>(x);
#else
  (void)tg::dense<tg::fixed_string("layer"), 3>(x);
#endif
}
