// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E219
#include "tagma/control_flow.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();

int main() {
  const auto [y] = tg::while_loop<10>(
      tg::carry(x), [](auto c) { return tg::sum(c) < 10.0f; }, [](auto c) { return tg::next(c * c + 1.0f); });
  const auto g = tg::gradient(tg::sum(y), x);
#ifdef REJECT
  static_cast<void>(tg::compile([h = tg::gradient(tg::sum(g), x)] { return tg::outputs(h); }));
#else
  static_cast<void>(tg::compile([=] { return tg::outputs(g); }));
#endif
}
