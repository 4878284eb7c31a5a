// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E206
// mentions: assign_add
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();
constexpr auto v = tg::variable<"v", float, 3>(tg::zeros, tg::not_trainable);

int main() {
  const auto [y] = tg::scan(tg::carry(h), tg::over(x), [](auto c, auto e) {
#ifdef REJECT
    return tg::next(c + tg::assign_add(v, e));
#else
    return tg::next(c + v + e);
#endif
  });
  static_cast<void>(tg::compile([y_ = y] { return tg::outputs(y_); }));
}
