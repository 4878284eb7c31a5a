// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E172
// mentions: compile([=] {
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

struct model {
  auto operator()(int) const { return tg::outputs(x); }
  auto operator()(float) const { return tg::outputs(x); }
};

int main() {
#ifdef REJECT
  (void)tg::compile(model{});
#else
  (void)tg::compile([] { return model{}(1); });
#endif
}
