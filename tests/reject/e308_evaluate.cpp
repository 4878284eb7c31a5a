// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E308
// mentions: data.batch(
#include <vector>

#include "tagma/datasets.hpp"
#include "tagma/fit.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  const auto y = tg::placeholder<"y", int, tg::dyn>();
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(x, y));
  const auto program = tg::compile([=] { return tg::outputs(loss); });
  tg::session session(program);
  const tg::tensor<float> rows({3, 2});
  const auto data = tg::datasets::from_slices(rows, std::vector<int>{1, 0, 1});
#ifdef REJECT
  (void)tg::evaluate(session, tg::inputs(x, y), data, tg::report("loss", loss));
#else
  (void)tg::evaluate(session, tg::inputs(x, y), data.batch(2), tg::report("loss", loss));
#endif
}
