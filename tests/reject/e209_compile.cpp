// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E209
#include "tagma/control_flow.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 3>();
#ifdef REJECT
constexpr tg::extent most = 0;
#else
constexpr tg::extent most = 10;
#endif

int main() {
  const auto [y] = tg::while_loop<most>(
      tg::carry(x), [](auto c) { return tg::sum(c) < 10.0f; }, [](auto c) { return tg::next(c * 2.0f + 1.0f); });
  static_cast<void>(tg::compile([g = tg::gradient(tg::sum(y), x)] { return tg::outputs(g); }));
}
