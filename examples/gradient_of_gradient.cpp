// SPDX-License-Identifier: BSL-1.0
// Newton's method finds where a function is least by its first and second derivative. A gradient is an expression like
// any other, so it has a gradient too.
#include <tagma/tagma.hpp>

#include <cstdio>

namespace tg = tagma;

int main() {
  auto x = tg::variable<"x", double>(0.5);
  auto f = tg::exp(x) - 3.0 * tg::sin(x);  // least where exp(x) = 3 cos(x)
  auto slope = tg::gradient(f, x);
  auto curvature = tg::gradient(slope, x);
  auto step = tg::assign_sub(x, slope / curvature);

  tg::session session(tg::compile([=] { return tg::outputs(f, slope, curvature, step); }));
  for (int i = 0; i < 4; ++i) {
    auto [value, first, second, at] = session.run(tg::fetch(f, slope, curvature, step));
    std::printf("f = %.9f  f' = %+.1e  f'' = %.6f  next x = %.12f\n", value, first, second, at);
  }
}
