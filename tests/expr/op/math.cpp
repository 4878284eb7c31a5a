// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/math.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", double, 6>();
constexpr auto p = tg::placeholder<"p", double, 6>();
const tg::tensor<double> at(tg::shape{6}, {0.3, -1.2, 0.7, 1.9, -0.4, 0.05});
const tg::tensor<double> positive(tg::shape{6}, {0.3, 1.2, 0.7, 1.9, 2.4, 0.5});

constexpr auto smooth = [] {
  return std::tuple(tg::exp(x), tg::expm1(x), tg::tanh(x), tg::sigmoid(x), tg::softplus(x), tg::erf(x), tg::sin(x),
                    tg::cos(x), tg::relu(x));
};
TEST_CASE("gradients of elementary functions") {
  const auto two = tg::constant<"two">(2.0);
  const auto weighted = [=](const auto& e, const auto& in) { return tg::sum(e * (in + two * in * in)); };
  const auto all = [=] {
    return std::apply(
        [=](const auto&... e) { return tg::outputs(weighted(e, x)..., tg::gradient(weighted(e, x), x)...); }, smooth());
  };
  tg::session session(tg::compile(all));
  std::apply(
      [&](const auto&... e) {
        (tg::test::check_gradient(
             [&](const auto& v) {
               return session.run(tg::fetch(weighted(e, x), tg::gradient(weighted(e, x), x)), x = v);
             },
             at),
         ...);
      },
      smooth());
}

TEST_CASE("gradients of functions of positive numbers, and of powers by both operands") {
  const auto power = tg::power(p, x);
  const auto loss = tg::sum(tg::log(p) * tg::log1p(p) + tg::sqrt(p) * tg::rsqrt(p * p) + power * power);
  const auto by_p = tg::gradient(loss, p);
  const auto by_x = tg::gradient(loss, x);
  tg::session session(tg::compile([=] { return tg::outputs(loss, by_p, by_x); }));
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, by_p), p = v, x = at); }, positive);
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, by_x), p = positive, x = v); }, at);
}

TEST_CASE("second derivatives: the gradient of a gradient") {
  const auto value = tg::sum(tg::tanh(x) * tg::exp(x) + tg::sigmoid(x) * tg::sin(x) + tg::erf(x) * tg::softplus(x));
  const auto slope = tg::sum(tg::square(tg::gradient(value, x)));
  const auto second = tg::gradient(slope, x);
  tg::session session(tg::compile([=] { return tg::outputs(slope, second); }));
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(slope, second), x = v); }, at);
}

TEST_CASE("edges: relu at zero, powers of zero and of negative numbers") {
  const auto kink = tg::gradient(tg::sum(tg::relu(x)), x);
  const auto cube = tg::power(x, 3.0);
  const auto slope = tg::gradient(tg::sum(cube), x);
  tg::session session(tg::compile([=] { return tg::outputs(kink, cube, slope); }));
  const tg::tensor<double> edge(tg::shape{6}, {0, -0.0, 1, -1, -2, 2});
  const auto [k, c, s] = session.run(tg::fetch(kink, cube, slope), x = edge);
  CHECK((k[0] == 0 && k[1] == 0 && k[2] == 1 && k[3] == 0));
  CHECK((c[0] == 0 && c[3] == Approx(-1) && c[4] == Approx(-8)));
  CHECK((s[0] == 0 && s[3] == Approx(3) && s[4] == Approx(12)));
}

TEST_CASE("gradients of powers are 0 where the power is 0, and by the power where the base is not positive") {
  const auto a = tg::placeholder<"a", double, 6>();
  const auto b = tg::placeholder<"b", double, 6>();
  const auto [by_base, by_power] = tg::gradients(tg::sum(tg::power(a, b)), a, b);
  const auto one = tg::gradient(tg::sum(tg::power(a, 0.0)), a);
  tg::session session(
      tg::compile([=, by_base_ = by_base, by_power_ = by_power] { return tg::outputs(by_base_, by_power_, one); }));
  const tg::tensor<double> base(tg::shape{6}, {0, 0, 0, -2, -2, 2}), power(tg::shape{6}, {0, -1, 2, 0.5, 0, 3});
  const auto [bases, powers, none] = session.run(tg::fetch(by_base, by_power, one), a = base, b = power);
  CHECK((bases[0] == 0 && bases[2] == 0 && bases[4] == 0 && bases[5] == Approx(12)));
  for (tg::extent i = 0; i < 5; ++i) CHECK(powers[i] == 0);
  CHECK(powers[5] == Approx(8 * std::log(2.0)));
  for (tg::extent i = 0; i < 6; ++i) CHECK(none[i] == 0);
}

TEST_CASE("second derivatives of powers that are 0") {
  const auto a = tg::placeholder<"a", double, 3>();
  const auto b = tg::placeholder<"b", double, 3>();
  const auto [by_base, by_power] = tg::gradients(tg::sum(tg::power(a, b)), a, b);
  const auto [base_base, base_power] = tg::gradients(tg::sum(by_base), a, b);
  const auto power_base = tg::gradient(tg::sum(by_power), a);
  tg::session session(tg::compile([=, aa = base_base, ab = base_power] { return tg::outputs(aa, ab, power_base); }));
  const tg::tensor<double> base(tg::shape{3}, {2, 0, 4}), power(tg::shape{3}, {0, 0, 1});
  const auto [aa, ab, ba] = session.run(tg::fetch(base_base, base_power, power_base), a = base, b = power);
  CHECK((aa[0] == 0 && aa[1] == 0 && aa[2] == 0));
  CHECK((ab[0] == Approx(0.5) && ab[2] == Approx(1 + std::log(4.0))));
  CHECK((ba[0] == Approx(0.5) && ba[2] == Approx(1 + std::log(4.0))));
}

}  // namespace
