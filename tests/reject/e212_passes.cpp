// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E212
// mentions: tagma::rewriter&
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

struct nothing {
#ifdef REJECT
  void visit(tg::rewriter&) const {}
#else
  static constexpr void visit(tg::rewriter&) {}
#endif
};

int main() {
  const auto y = tg::tanh(x);
  (void)tg::compile([=] { return tg::outputs(y); }, tg::passes<nothing>);
}
