// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/compare.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", double, 2, 3>();
constexpr auto c = tg::placeholder<"c", bool, 3>();
using b3 = tg::spec<bool, 3>;
static_assert(tg::diagnose::condition_broadcasts<b3, decltype(x), double> &&
              tg::diagnose::condition_broadcasts<b3, double, double>);
static_assert(!tg::diagnose::condition_broadcasts<tg::spec<bool, 4>, decltype(x), double>);
static_assert(tg::diagnose::converts<b3, float> && !tg::diagnose::converts<b3, tg::string_element>);
static_assert(tg::diagnose::is_no_string<b3> && !tg::diagnose::is_no_string<tg::spec<tg::string_element, 3>>);

TEST_CASE("the gradient of a choice goes to what was chosen") {
  const auto chosen = tg::sum(tg::select(c, x * x, tg::exp(x)) * x);
  const auto slope = tg::gradient(chosen, x);
  tg::session session(tg::compile([=] { return tg::outputs(chosen, slope); }));
  const tg::tensor<bool> which(tg::shape{3}, {true, false, true});
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(chosen, slope), x = v, c = which); },
                           tg::tensor<double>(tg::shape{2, 3}, {0.3, -1.2, 0.7, 1.9, -0.4, 0.1}));
}

TEST_CASE("a conversion between floating types passes the gradient, one to integers does not") {
  const auto narrow = tg::sum(tg::cast<float>(x) * 3.0f);
  const auto slope = tg::gradient(narrow, x);
  tg::session session(tg::compile([=] { return tg::outputs(slope); }));
  const auto g = session.run(slope, x = tg::tensor<double>(tg::shape{2, 3}));
  for (const double v : g.span()) CHECK(v == 3);
}

TEST_CASE("one operand may be a number on either side") {
  const auto left = tg::select(c, 1.0, tg::sum<0>(x));
  const auto right = tg::select(c, tg::sum<0>(x), -1.0);
  const auto below = 2.0 > x;
  tg::session session(tg::compile([=] { return tg::outputs(left, right, below); }));
  const tg::tensor<bool> which(tg::shape{3}, {true, false, true});
  const tg::tensor<double> in(tg::shape{2, 3}, {1, 2, 3, 4, 5, 6});
  const auto [a, b, d] = session.run(tg::fetch(left, right, below), x = in, c = which);
  CHECK((a[0] == 1 && a[1] == 7 && a[2] == 1));
  CHECK((b[0] == 5 && b[1] == -1 && b[2] == 9));
  CHECK((d[0] && !d[1] && !d[5]));
}

TEST_CASE("integers of two types are compared by value") {
  constexpr auto small = tg::placeholder<"small", std::uint8_t, 3>();
  constexpr auto large = tg::placeholder<"large", std::int64_t, 3>();
  constexpr auto narrow = tg::placeholder<"narrow", std::int8_t, 3>();
  const auto same = tg::equal(large, small);
  const auto below = small < narrow;
  tg::session session(tg::compile([=] { return tg::outputs(same, below); }));
  const auto [a, b] = session.run(tg::fetch(same, below), small = tg::tensor<std::uint8_t>(tg::shape{3}, {255, 7, 3}),
                                  large = tg::tensor<std::int64_t>(tg::shape{3}, {255, 263, 3}),
                                  narrow = tg::tensor<std::int8_t>(tg::shape{3}, {-1, 8, 3}));
  CHECK((a[0] && !a[1] && a[2]));
  CHECK((!b[0] && b[1] && !b[2]));
}

}  // namespace
