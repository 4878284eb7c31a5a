// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/clip.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", double, tg::dyn, 2>();
constexpr auto z = tg::placeholder<"z", double, tg::dyn>();
constexpr auto limit = tg::placeholder<"limit", double>();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("values and norms are clipped as TensorFlow does") {
  const auto within = tg::clip_by_value(x, -1.0, 2.5);
  const auto slope = tg::gradient(tg::sum(tg::square(within)), x);
  const auto by_norm = tg::clip_by_norm(x, limit);
  const auto loss = tg::sum(tg::square(by_norm + 1.0));
  const auto norm_slope = tg::gradient(loss, x);
  const auto norm = tg::global_norm(x, z);
  const auto [scaled_x, scaled_z] = tg::clip_by_global_norm(limit, x, z);
  const auto fixed = tg::clip_by_norm(x, 5);
  const auto program = tg::compile([&, a = scaled_x, b = scaled_z] {
    return tg::outputs(within, slope, by_norm, loss, norm_slope, norm, a, b, fixed);
  });
  tg::session session(program);

  const tg::tensor<double> at(tg::shape{2, 2}, {-3, 0.5, 4, 2}), other(tg::shape{1}, {-4});
  {
    const auto [value, gradient] = session.run(tg::fetch(within, slope), x = at);
    CHECK(std::vector<double>(value.span().begin(), value.span().end()) == std::vector<double>{-1, 0.5, 2.5, 2});
    CHECK(std::vector<double>(gradient.span().begin(), gradient.span().end()) == std::vector<double>{0, 1, 0, 4});
  }
  const double own = std::sqrt(9 + 0.25 + 16 + 4), both = std::sqrt(9 + 0.25 + 16 + 4 + 16);
  const auto small = session.run(by_norm, x = at, limit = 2.0);
  CHECK(small(1, 0) == Approx(4 * 2 / own));
  CHECK(session.run(by_norm, x = at, limit = 6.0)(1, 0) == Approx(4));
  CHECK(session.run(fixed, x = at)(0, 0) == Approx(-3 * 5 / own));
  CHECK(session.run(norm, x = at, z = other) == Approx(both));
  {
    const auto [a, b] = session.run(tg::fetch(scaled_x, scaled_z), x = at, z = other, limit = 3.0);
    CHECK(a(0, 0) == Approx(-3 * 3 / both));
    CHECK(b(0) == Approx(-4 * 3 / both));
  }
  {
    const auto [a, b] = session.run(tg::fetch(scaled_x, scaled_z), x = at, z = other, limit = 100.0);
    CHECK(a(0, 0) == Approx(-3));
    CHECK(b(0) == Approx(-4));
  }
  {
    const tg::tensor<double> broken(tg::shape{1}, {infinity});
    const auto [a, b] = session.run(tg::fetch(scaled_x, scaled_z), x = at, z = broken, limit = 3.0);
    for (tg::extent i = 0; i < 4; ++i) CHECK(std::isnan(a[i]));
    CHECK(std::isnan(b[0]));
  }
  for (const double bound : {2.0, 6.0})
    tg::test::check_gradient(
        [&](const tg::tensor<double>& v) { return session.run(tg::fetch(loss, norm_slope), x = v, limit = bound); },
        at);
  const tg::tensor<double> zeros(tg::shape{2, 2}, {0, 0, 0, 0});
  const auto [value, gradient] = session.run(tg::fetch(by_norm, norm_slope), x = zeros, limit = 1.0);
  for (tg::extent i = 0; i < 4; ++i) {
    CHECK(value[i] == 0);
    CHECK(gradient[i] == Approx(2));
  }
}
