// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/copy_loops.hpp"

#include "support/passes_of_loops.hpp"

TEST_CASE("operations of a body are replaced by others of it") {
  const auto of = [](const auto& f) {
    return loop_of([&](const auto& c, const auto& e) {
      const auto n = f(c + e) * 0.5F;
      return tg::next(n).emit(f(n));
    });
  };
  const auto with_gradient = [](const auto& results) {
    const auto [last, all] = results;
    return std::make_tuple(last, all, tg::gradient(tg::sum(last) + tg::mean(all), h));
  };
  const auto tanh = of([](const auto& a) { return tg::tanh(a); });
  check(tanh, tg::passes<square_for_tanh>, of([](const auto& a) { return a * a; }));
  check(tanh, tg::passes<drop_tanh>, of([](const auto& a) { return a; }));
  const auto all = with_gradient(of([](const auto& a) { return tg::minimum(a, a); }));
  CHECK(run(program_of(all, tg::passes<nothing>), all) == run(program_of(all), all));
}
