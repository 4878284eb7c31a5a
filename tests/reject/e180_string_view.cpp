// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E180
// mentions: string_view
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  [[maybe_unused]] static constexpr std::string_view name = "layer_1";
  [[maybe_unused]] static constexpr tg::fixed_string suffix = "_1";
#ifdef REJECT
  (void)tg::variable<name, float, 3>(tg::zeros);
#else
  (void)tg::variable<"layer" + suffix, float, 3>(tg::zeros);
#endif
}
