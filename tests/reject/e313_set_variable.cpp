// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E313
#include <vector>

#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

namespace tg = tagma;

int main() {
  const auto program = tg::compile([] { return tg::outputs(tg::variable<"bias", float, 2>(tg::zeros)); });
  tg::session session(program);
#ifdef REJECT
  const std::vector<float> value{1, 2};
#else
  const tg::tensor<float> value(tg::shape{2}, {1, 2});
#endif
  tg::set_variable(session, "bias", value);
}
