// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E271
// mentions: read_the_body
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 5, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();

/// tanh(a) becomes a; the wrong one reads what the loop behind it carries.
struct read_the_body {
  static constexpr void visit(tg::rewriter& r) {
    if (!r.is<tg::op::tanh>()) return;
#ifdef REJECT
    r.replace(r.input(r.in(0), 0));
#else
    r.replace(r.in(0));
#endif
  }
};

int main() {
  const auto [y] = tg::scan(tg::carry(h), tg::over(x), [](auto c, auto e) { return tg::next(c + e); });
  static_cast<void>(tg::compile([z = tg::tanh(y)] { return tg::outputs(z); }, tg::passes<read_the_body>));
}
