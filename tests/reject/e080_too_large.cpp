// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E080
#define TAGMA_MAX_NODES 4
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto a = tg::placeholder<"a", float>();

int main() {
#ifdef REJECT
  (void)tg::compile([=] { return tg::outputs(tg::sin(tg::cos(tg::exp(tg::sqrt(a))))); });
#else
  (void)tg::compile([=] { return tg::outputs(tg::sin(a)); });
#endif
}
