// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E307
// mentions: [&](std::uint64_t epoch)
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
  const auto epochs = data.batch(2);
#else
  const auto epochs = [&](std::uint64_t epoch) { return data.shuffle(3).epoch(epoch).batch(2); };
#endif
  (void)tg::fit(session, train, tg::inputs(x), epochs, {.epochs = 1}, tg::report("loss", loss));
}
