// SPDX-License-Identifier: BSL-1.0
// Numbers written in place are told apart by their place, whatever compiles this: g++, clang, or nvcc.
#include <cstdio>

#include "tagma/tagma.hpp"

namespace tg = tagma;

template <tg::expression E>
auto two_of(const E& e) {
  return 5.0f * e + 7.0f * e;
}

int main() {
  constexpr auto x = tg::placeholder<"x", float>();
  const auto together = 2.0f * x + 3.0f * x;
  const auto once = 2.0f * x;
  const auto twice = once + once;  // one node, read twice
  const auto other = 4.0f * x;
  const auto apart = once + other;
  decltype(once) copy = once;
  const auto returned = two_of(x) - tg::maximum(x, 1.0f) * tg::minimum(x, 1.5f);
  const auto noise = tg::sum(tg::abs(tg::random_uniform<float, 64>() - tg::random_uniform<float, 64>()));
  const auto program = tg::compile([=] { return tg::outputs(together, twice, apart, copy, returned, noise); });
  tg::session session(program, {.seed = 1});
  const auto [a, b, c, d, e, n] = session.run(tg::fetch(together, twice, apart, copy, returned, noise), x = 2.0f);
  std::printf("%g %g %g %g %g, %g\n", static_cast<double>(a), static_cast<double>(b), static_cast<double>(c),
              static_cast<double>(d), static_cast<double>(e), static_cast<double>(n));
  return a == 10 && b == 8 && c == 12 && d == 4 && e == 21 && n > 0 ? 0 : 1;
}
