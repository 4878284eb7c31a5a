// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E211
// mentions: multiply_more
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

/// Writes every product of matrices anew; the wrong one forgets the second.
struct multiply_more {
  static constexpr void visit(tg::rewriter& r) {
    if (!r.is<tg::op::matmul>()) return;
#ifdef REJECT
    r.replace(r.emit_with(tg::op::matmul{}, r.attributes(r.self()), r.in(1)));
#else
    r.replace(r.emit_with(tg::op::matmul{}, r.attributes(r.self()), r.in(0), r.in(1)));
#endif
  }
};

int main() {
  const auto y = tg::matmul(x, tg::variable<"w", float, 4, 3>(tg::zeros));
  (void)tg::compile([=] { return tg::outputs(y); }, tg::passes<multiply_more>);
}
