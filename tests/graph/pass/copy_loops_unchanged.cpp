// SPDX-License-Identifier: BSL-1.0
// Apart from copy_loops.cpp, since clang 14 gives closures of both one name.
#include "support/passes_of_loops.hpp"

TEST_CASE("a pass that changes nothing leaves loops as they are") {
  const auto w = tg::variable<"w", float, 3, 3>(tg::random_normal(0, 0.5));
  const auto check_same = [](const auto& results, int runs) {
    const auto plain = program_of(results);
    const auto copied = program_of(results, tg::passes<nothing>);
    const auto twice = program_of(results, tg::passes<nothing, nothing>);
    CHECK(copied.fingerprint() == twice.fingerprint());
    CHECK(copied.node_count() <= plain.node_count());
    CHECK(copied.peak_bytes(5) == plain.peak_bytes(5));
    const auto expected = run(plain, results, runs);
    CHECK(run(copied, results, runs) == expected);
    CHECK(run(twice, results, runs) == expected);
  };
  SECTION("forwards and backwards, with gradients of second order") {
    const auto [last, all] = loop_of([&](const auto& c, const auto& e) {
      const auto made = tg::tanh(tg::matmul(tg::expand_dims<0>(c), w) + e);
      const auto n = tg::reshape<3>(made);
      return tg::next(n).emit(n * e);
    });
    const auto [back, rows] = loop_of<true>([](const auto& c, const auto& e) { return tg::next(c * e).emit(c); });
    const auto loss = tg::sum(last * back) + tg::mean(tg::square(all)) + tg::mean(rows);
    const auto g = tg::gradient(loss, h);
    check_same(std::make_tuple(last, all, back, rows, g, tg::gradient(tg::sum(g * g), h)), 1);
    check_same(std::make_tuple(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.1})), 3);
  }
  SECTION("loops in loops") {
    const auto [last, all] = loop_of([](const auto& c, const auto& e) {
      const auto [inner, rows] = tg::scan(tg::carry(c), tg::over(xs), [&](const auto& d, const auto& f) {
        const auto n = tg::sin(d * e + f);
        return tg::next(n).emit(n);
      });
      return tg::next(inner * 0.5F).emit(tg::sum(rows));
    });
    check_same(std::make_tuple(last, all, tg::gradient(tg::sum(last) + tg::sum(all), h)), 1);
  }
  SECTION("branches, and loops that end by themselves") {
    const auto [n, end] = tg::while_loop<20>(
        tg::carry(tg::sum(h) * 0.0F, h), [](const auto&, const auto& c) { return tg::sum(c * c) < 90.0F; },
        [](const auto& k, const auto& c) {
          return tg::next(k + 1.0F, tg::cond(
                                        tg::sum(c) > 2.0F, [](const auto& d) { return d * 1.5F; },
                                        [](const auto& d) { return tg::sin(other) + d; }, c));
        });
    check_same(std::make_tuple(n, end, tg::gradient(tg::sum(end), h)), 1);
  }
}
