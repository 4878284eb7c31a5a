// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/arithmetic.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "support/graphs.hpp"
#include "support/naive.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", double, 2, 3>();
constexpr auto r = tg::placeholder<"r", double, 3>();
constexpr auto c = tg::placeholder<"c", double, 2, 1>();
constexpr auto s = tg::placeholder<"s", double>();

/// Weights that differ, so that a gradient in the wrong place shows.
constexpr auto weighted = [](const auto& e) { return tg::sum(e * (x * x + r)); };

TEST_CASE("gradients of arithmetic, through every kind of broadcast") {
  const auto value = tg::abs(tg::square(x - r) * c) / (tg::square(r) + 2.0) + tg::maximum(x, c) * tg::minimum(r, s) -
                     (-x) + (x - r) * r + (x - c) * c;
  const auto loss = weighted(value);
  const auto slopes = tg::gradients(loss, x, r, c, s);
  const auto dx = std::get<0>(slopes);
  const auto dr = std::get<1>(slopes);
  const auto dc = std::get<2>(slopes);
  const auto ds = std::get<3>(slopes);
  tg::session session(tg::compile([=] { return tg::outputs(loss, dx, dr, dc, ds); }));
  const tg::tensor<double> at_x(tg::shape{2, 3}, {0.3, -1.2, 0.7, 1.9, -0.4, 0.11}),
      at_r(tg::shape{3}, {-0.6, 0.9, 1.4});
  const tg::tensor<double> at_c(tg::shape{2, 1}, {0.5, -0.8}), at_s(0.2);
  using tg::test::check_gradient;
  check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, dx), x = v, r = at_r, c = at_c, s = at_s); },
                 at_x);
  check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, dr), x = at_x, r = v, c = at_c, s = at_s); },
                 at_r);
  check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, dc), x = at_x, r = at_r, c = v, s = at_s); },
                 at_c);
  const auto at = [&](double v) { return session.run(tg::fetch(loss, ds), x = at_x, r = at_r, c = at_c, s = v); };
  const double slope = std::get<1>(at(0.2)),
               quotient = (std::get<0>(at(0.2 + 1e-5)) - std::get<0>(at(0.2 - 1e-5))) / 2e-5;
  CHECK(slope == Approx(quotient).epsilon(1e-6));
}

TEST_CASE("rounding has no slope, and ties of a maximum go to the first") {
  const auto loss = tg::sum(tg::maximum(x, x * 1.0) + tg::floor(x) + tg::ceil(x) + tg::round(x) + tg::sign(x));
  const auto slope = tg::gradient(loss, x);
  const auto first = tg::gradient(tg::sum(tg::maximum(r, s)), r);
  tg::session session(tg::compile([=] { return tg::outputs(slope, first); }));
  const auto g = session.run(slope, x = tg::test::scattered<double>({2, 3}, -3, 3));
  for (const double v : g.span()) CHECK(v == 1);
  const auto tie = session.run(first, r = tg::tensor<double>(tg::shape{3}, {1, 2, 3}), s = 2.0);
  CHECK((tie[0] == 0 && tie[1] == 1 && tie[2] == 1));
}

/// Adding nothing and multiplying by one leave no operation behind.
constexpr int operations(const auto& e) {
  const auto built = tg::test::build(e);
  const auto g = tg::test::view_of(built);
  return tg::test::count_of(g, "multiply") + tg::test::count_of(g, "add") + tg::test::count_of(g, "negate");
}
static_assert(operations(tg::gradient(s * s, s)) == 2);  // s * s itself, and s + s
static_assert(operations(tg::gradient(s + s, s)) == 1);  // s + s itself; its slope is a constant

}  // namespace
