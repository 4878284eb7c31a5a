// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E311
// mentions: spec<float, -1, 4>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto total = tg::sum(x);
  tg::session session(tg::compile([=] { return tg::outputs(total); }));
  const std::vector<std::vector<float>> rows(2, std::vector<float>(4));
#ifdef REJECT
  (void)session.run(total, x = rows);
#else
  (void)session.run(total, x = rows[0]);
#endif
}
