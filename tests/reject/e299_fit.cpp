// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E299
#include <tuple>
#include <vector>

#include "tagma/fit.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

int main() {
  const auto x = tg::placeholder<"x", float, tg::dyn>();
  const auto y = tg::placeholder<"y", float, tg::dyn>();
  const auto loss = tg::mean(x - y);
  const auto program = tg::compile([=] { return tg::outputs(loss); });
  tg::session session(program);
  const tg::tensor<float> column({2});
#ifdef REJECT
  const std::vector<std::tuple<tg::tensor<float>, tg::tensor<float>, tg::tensor<float>>> data = {
      {column, column, column}};
#else
  const std::vector<std::tuple<tg::tensor<float>, tg::tensor<float>>> data = {{column, column}};
#endif
  (void)tg::evaluate(session, tg::inputs(x, y), data, tg::report("loss", loss));
}
