// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E171
// mentions: tagma::explain(program)
#include "tagma/tagma.hpp"

#include <iostream>

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

int main() {
  const auto program = tg::compile([=] { return tg::outputs(tg::mean(x)); });
#ifdef REJECT
  std::cout << program;
#else
  (void)program;
#endif
}
