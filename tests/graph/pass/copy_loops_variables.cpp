// SPDX-License-Identifier: BSL-1.0
// Apart from copy_loops.cpp, since clang 14 gives closures of both one name.
#include "support/passes_of_loops.hpp"

TEST_CASE("a loop goes over a variable that the program updates, as over a copy") {
  const auto w = tg::variable<"w", float, 5, 3>(tg::ones);
  const auto body = [](const auto& c, const auto& e) { return tg::next(c * 0.5F + e).emit(c * e); };
  const auto [last, all] = tg::scan(tg::carry(h), tg::over(tg::minimum(w, w + 1.0F)), body);
  const auto [same_last, same_all] = tg::scan(tg::carry(h), tg::over(w), body);
  const auto update = tg::assign_add(w, tg::square(w));
  const auto changed = std::make_tuple(last, all, update);
  const auto plain = std::make_tuple(same_last, same_all, update);
  CHECK(run(program_of(changed, tg::passes<take_one>), changed, 4) == run(program_of(plain), plain, 4));
}
