// SPDX-License-Identifier: BSL-1.0
// Apart from copy_loops.cpp, since clang 14 gives closures of both one name.
#include "support/passes_of_loops.hpp"

TEST_CASE("what a loop carries and gathers is copied where a pass puts something else there") {
  SECTION("what it carries itself") {
    check(loop_of([](const auto& c, const auto& e) { return tg::next(tg::tanh(c)).emit(tg::tanh(e), tg::tanh(c)); }),
          tg::passes<drop_tanh>, loop_of([](const auto& c, const auto& e) { return tg::next(c).emit(e, c); }));
  }
  SECTION("two values by turns") {
    const auto turn = [](const auto& f) {
      return tg::scan(tg::carry(h, h * 2.0F), tg::over(xs),
                      [&](const auto& a, const auto& b, const auto&) { return tg::next(f(b), f(a)).emit(f(b)); });
    };
    check(turn([](const auto& a) { return tg::tanh(a); }), tg::passes<drop_tanh>,
          turn([](const auto& a) { return a; }));
  }
  SECTION("one value twice") {
    const auto twice = [](const auto& f) {
      return tg::scan(tg::carry(h, h), tg::over(xs), [&](const auto& a, const auto&, const auto& e) {
        const auto n = a + e;
        return tg::next(n, f(n, e)).emit(f(n, e), n);
      });
    };
    check(twice([](const auto& a, const auto& e) { return tg::minimum(a, e); }), tg::passes<take_one>,
          twice([](const auto& a, const auto&) { return a; }));
  }
  SECTION("something from in front of the loop") {
    const auto outside = [](const auto& f) {
      return loop_of([&](const auto& c, const auto& e) { return tg::next(f(c, other)).emit(f(e, h * 3.0F) * 2.0F); });
    };
    check(outside([](const auto& a, const auto& b) { return tg::maximum(a, b); }), tg::passes<take_one>,
          outside([](const auto&, const auto& b) { return b; }));
  }
  SECTION("in a loop in a loop") {
    const auto nested = [](const auto& f) {
      return loop_of([&](const auto& c, const auto& e) {
        const auto [inner, rows, more] = tg::scan(tg::carry(c), tg::over(xs), [&](const auto& d, const auto& k) {
          const auto n = d * e + k;
          return tg::next(f(n, d)).emit(n, f(d, k));
        });
        return tg::next(f(inner, c)).emit(f(tg::sum<0>(rows) + tg::sum<0>(more), c), f(inner, e), rows, more);
      });
    };
    check(nested([](const auto& a, const auto& b) { return tg::minimum(a, b); }), tg::passes<take_one>,
          nested([](const auto& a, const auto&) { return a; }));
    check(nested([](const auto& a, const auto& b) { return tg::maximum(a, b); }), tg::passes<take_one>,
          nested([](const auto&, const auto& b) { return b; }));
  }
  SECTION("in a loop in a loop, with gradients that keep what it gathers") {
    const auto check_gradients = [](const auto& choose) {
      const auto [last, all] = loop_of([&](const auto& c, const auto& e) {
        const auto [first, second, rows] =
            tg::scan(tg::carry(c, c), tg::over(xs), [&](const auto& d, const auto& q, const auto& k) {
              const auto n = tg::tanh(d * e + k * other);
              return tg::next(-(-n), tg::sin(q + n)).emit(n);
            });
        return tg::next(choose(first, second)).emit(tg::sum<0>(rows));
      });
      const auto loss = tg::sum(last) + tg::sum(all);
      const auto results = std::make_tuple(last, all, tg::gradient(loss, h), tg::gradient(loss, other));
      CHECK(run(program_of(results, tg::passes<drop_negations>), results) == run(program_of(results), results));
    };
    check_gradients([](const auto& a, const auto& b) { return a * b; });
    check_gradients([](const auto&, const auto& b) { return b; });
  }
  SECTION("in branches") {
    const auto branched = [](const auto& f) {
      return std::make_tuple(loop_of([&](const auto& c, const auto& e) {
        const auto [one, two] = tg::cond(
            tg::sum(e) > 0.0F, [&](const auto& d) { return std::make_tuple(f(d * 2.0F, d), f(d * 2.0F, other)); },
            [&](const auto& d) { return std::make_tuple(f(e, d * e), f(other * other, d)); }, c);
        return tg::next(one).emit(two);
      }));
    };
    const auto flat = [](const auto& results) { return std::get<0>(results); };
    check(flat(branched([](const auto& a, const auto& b) { return tg::minimum(a, b); })), tg::passes<take_one>,
          flat(branched([](const auto& a, const auto&) { return a; })));
    check(flat(branched([](const auto& a, const auto& b) { return tg::maximum(a, b); })), tg::passes<take_one>,
          flat(branched([](const auto&, const auto& b) { return b; })));
  }
}
