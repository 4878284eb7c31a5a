// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E060
// mentions: value
// mentions: placeholder
// mentions: variable
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto v = tg::placeholder<"value", float, 3>();
#ifdef REJECT
  const auto w = tg::variable<"value", float, 3>(tg::zeros);
#else
  const auto w = tg::variable<"weights", float, 3>(tg::zeros);
#endif
  (void)tg::compile([=] { return tg::outputs(tg::sum(v), tg::sum(w)); });
}
