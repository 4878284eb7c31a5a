// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E307
// mentions: takes a dataset
#include <vector>

#include "tagma/datasets.hpp"
#include "tagma/fit.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto x = tg::placeholder<"x", float, tg::dyn>();
  const auto loss = tg::mean(x);
  const auto program = tg::compile([=] { return tg::outputs(loss); });
  tg::session session(program);
  const auto data = tg::datasets::from_slices(std::vector<float>{1, 2, 3});
#ifdef REJECT
  (void)tg::evaluate(session, tg::inputs(x), [&] { return data.batch(2); }, tg::report("loss", loss));
#else
  (void)tg::evaluate(session, tg::inputs(x), data.batch(2), tg::report("loss", loss));
#endif
}
