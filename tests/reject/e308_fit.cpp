// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E308
// mentions: data.batch(
#include <vector>

#include "tagma/datasets.hpp"
#include "tagma/fit.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto x = tg::placeholder<"x", float, tg::dyn>();
  const auto loss = tg::mean(x - tg::variable<"w", float>(tg::zeros));
  const auto train = tg::minimize(loss, tg::sgd{});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  tg::session session(program);
  const auto data = tg::datasets::from_slices(std::vector<float>{1, 2, 3});
#ifdef REJECT
  const auto epoch = [&](std::uint64_t) { return data; };
#else
  const auto epoch = [&](std::uint64_t) { return data.batch(2); };
#endif
  (void)tg::fit(session, train, tg::inputs(x), epoch, {.epochs = 1}, tg::report("loss", loss));
}
