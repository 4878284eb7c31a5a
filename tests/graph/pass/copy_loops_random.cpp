// SPDX-License-Identifier: BSL-1.0
// Apart from copy_loops.cpp, since clang 14 gives closures of both one name.
#include "support/passes_of_loops.hpp"

TEST_CASE("what draws random numbers in a body draws in each iteration, whatever it depends on then") {
  const auto [last, all] = loop_of([](const auto& c, const auto& e) {
    return tg::next(c + e).emit(tg::dropout(tg::minimum(tg::square(h) + 1.0F, c), 0.5));
  });
  const auto noise = std::make_tuple(all);
  const auto rows = run(program_of(noise, tg::passes<take_one, nothing>), noise, 10);
  bool differ = false;
  for (std::size_t i = 0; i + 3 < 15; ++i) differ = differ || (rows[i] == 0) != (rows[i + 3] == 0);
  CHECK(differ);
}
