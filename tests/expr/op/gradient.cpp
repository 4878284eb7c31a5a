// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/gradient.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "support/naive.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", double, 3>();
constexpr auto y = tg::placeholder<"y", double, 2, 3>();
constexpr auto s = tg::placeholder<"s", double>();
static_assert(decltype(tg::gradient(tg::sum(y), y))::spec == decltype(y)::spec);
static_assert(tg::diagnose::is_scalar_loss<tg::spec<float>> && !tg::diagnose::is_scalar_loss<tg::spec<float, 1>> &&
              !tg::diagnose::is_scalar_loss<tg::spec<std::int32_t>>);

TEST_CASE("derivatives of every order") {
  const auto power = s * s * s * s;
  const auto first = tg::gradient(power, s);
  const auto second = tg::gradient(first, s);
  const auto third = tg::gradient(second, s);
  const auto fourth = tg::gradient(third, s);
  tg::session session(tg::compile([=] { return tg::outputs(first, second, third, fourth); }));
  const auto [a, b, c, d] = session.run(tg::fetch(first, second, third, fourth), s = 3.0);
  CHECK((a == 108 && b == 108 && c == 72 && d == 24));
}

TEST_CASE("by a node in the middle, by the node itself, and by several at once") {
  const auto middle = tg::exp(x);
  const auto loss = tg::sum(middle * middle * y);
  const auto by_middle = tg::gradient(loss, middle);
  const auto by_itself = tg::gradient(middle, middle);
  const auto both = tg::gradients(loss, x, y);
  const auto by_x = std::get<0>(both);
  const auto by_y = std::get<1>(both);
  tg::session session(tg::compile([=] { return tg::outputs(by_middle, by_itself, by_x, by_y); }));
  const auto at_x = tg::test::scattered<double>({3}, -1, 1, 1), at_y = tg::test::scattered<double>({2, 3}, -1, 1, 2);
  const auto m = session.run(by_middle, x = at_x, y = at_y), g = session.run(by_x, x = at_x, y = at_y), h = session.run(by_y, x = at_x);
  const auto one = session.run(by_itself, x = at_x);
  for (tg::extent i = 0; i < 3; ++i) {
    const double e = std::exp(at_x[i]), column = at_y[i] + at_y[3 + i];
    CHECK(m[i] == Approx(2 * e * column));
    CHECK(g[i] == Approx(2 * e * e * column));
    CHECK(h[i] == Approx(e * e));
    CHECK(one[i] == 1);
  }
}

TEST_CASE("the gradient of a tensor is that of the sum of its elements") {
  const auto value = x * y;
  const auto slope = tg::gradient(value, x);
  const auto summed = tg::gradient(tg::sum(value), x);
  tg::session session(tg::compile([=] { return tg::outputs(slope, summed); }));
  const auto at = tg::test::scattered<double>({2, 3}, -1, 1);
  const auto a = session.run(slope, y = at, x = tg::tensor<double>(tg::shape{3}));
  CHECK(tg::test::distance(a, session.run(summed, y = at)) == 0);
}

TEST_CASE("training goes down: a least squares fit by gradient descent") {
  const auto w = tg::variable<"w", double, 3, 1>(tg::zeros);
  const auto in = tg::placeholder<"in", double, tg::dyn, 3>();
  const auto out = tg::placeholder<"out", double, tg::dyn, 1>();
  const auto loss = tg::mean(tg::square(tg::matmul(in, w) - out));
  const auto train = tg::assign_sub(w, 0.3 * tg::gradient(loss, w));
  tg::session session(tg::compile([=] { return tg::outputs(loss, train, w); }));
  const auto p = tg::test::scattered<double>({40, 3}, -1, 1);
  tg::tensor<double> q(tg::shape{40, 1});
  for (tg::extent i = 0; i < 40; ++i) q[i] = 2 * p(i, 0) - p(i, 1) + 0.5 * p(i, 2);
  for (int step = 0; step < 200; ++step) session.run(train, in = p, out = q);
  CHECK(session.run(loss, in = p, out = q) < 1e-12);
  CHECK(session.run(w)[1] == Approx(-1).epsilon(1e-5));
}

}  // namespace
