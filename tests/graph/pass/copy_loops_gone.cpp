// SPDX-License-Identifier: BSL-1.0
// Apart from copy_loops.cpp, since clang 14 gives closures of both one name.
#include "support/passes_of_loops.hpp"

TEST_CASE("a loop that nobody reads any more is gone, and one that no longer needs the loop around it leaves it") {
  const auto [last] = loop_of([](const auto& c, const auto& e) { return tg::next(c + e); });
  const auto y = tg::minimum(h, last);
  const auto program = program_of(std::make_tuple(y), tg::passes<take_one, nothing>);
  CHECK(decltype(program)::graph::loops == 0);
  CHECK(run(program, std::make_tuple(y)) == start);

  const auto nested = [](const auto& f) {
    return loop_of([&](const auto& c, const auto& e) {
      const auto [inner, same] =
          tg::scan(tg::carry(f(h, e), h), tg::over(xs),
                   [](const auto& d, const auto& q, const auto& k) { return tg::next(d * 0.5F + k, q); });
      return tg::next(c + inner * same);
    });
  };
  const auto before = nested([](const auto& a, const auto& b) { return tg::minimum(a, b); });
  const auto changed = program_of(before, tg::passes<take_one>);
  for (const auto& l : decltype(changed)::graph::flat.loops) CHECK(l.parent == -1);
  check(before, tg::passes<take_one>, nested([](const auto& a, const auto&) { return a; }));
}
