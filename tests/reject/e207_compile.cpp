// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E207
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();
constexpr auto chosen = tg::placeholder<"chosen", bool, 5>();

int main() {
#ifdef REJECT
  const auto [y] = tg::scan(tg::carry(h), tg::over(x), [](auto c, auto e) {
    return tg::next(c + tg::sum(tg::boolean_mask(e, tg::greater(c, e))));
  });
  static_cast<void>(tg::compile([y_ = y] { return tg::outputs(y_); }));
#else
  const auto [y] = tg::scan(tg::carry(h), tg::over(tg::boolean_mask(x, chosen)),
                            [](auto c, auto e) { return tg::next(c + e); });
  static_cast<void>(tg::compile([y_ = y] { return tg::outputs(y_); }));
#endif
}
