// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E311
// mentions: spec<bool, -1, 4>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", bool, tg::dyn, 4>();

int main() {
  const auto total = tg::any(x);
  tg::session session(tg::compile([=] { return tg::outputs(total); }));
#ifdef REJECT
  const std::vector<bool> rows(8);
  (void)session.run(total, x = rows);
#else
  (void)session.run(total, x = tg::tensor<bool>({2, 4}));
#endif
}
