// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/moments.hpp"

#include <catch2/catch.hpp>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", double, tg::dyn, 3>();

TEST_CASE("moments: shapes, values, one step") {
  const auto [mean, variance] = tg::moments<0>(x);
  const auto [kept_mean, kept_variance] = tg::moments<-1>(x, tg::keep_dims);
  const auto all = std::get<1>(tg::moments(x));
  STATIC_REQUIRE(decltype(mean)::spec.dims == tg::shape{3});
  STATIC_REQUIRE(decltype(kept_variance)::spec.dims == tg::shape{tg::dyn, 1});
  STATIC_REQUIRE(decltype(all)::spec.dims == tg::shape{});
  const auto program = tg::compile(
      [a = mean, b = variance, c = kept_mean, d = kept_variance, e = all] { return tg::outputs(a, b, c, d, e); });
  STATIC_REQUIRE(decltype(program)::full_plan::steps.size() == 3);
  tg::session session(program);
  const tg::tensor<double> in({2, 3}, {1, 2, 3, 5, 2, -3});
  CHECK(session.run(mean, x = in) == tg::tensor<double>(tg::shape{3}, {3, 2, 0}));
  CHECK(session.run(variance, x = in) == tg::tensor<double>(tg::shape{3}, {4, 0, 9}));
  const auto [m, v] = session.run(tg::fetch(kept_mean, kept_variance), x = in);
  CHECK(m(0, 0) == Approx(2));
  CHECK(m(1, 0) == Approx(4.0 / 3));
  CHECK(v(0, 0) == Approx(2.0 / 3));
  CHECK(v(1, 0) == Approx((25 + 4 + 9) / 3.0 - 16.0 / 9));
  CHECK(session.run(all, x = in) == Approx((1 + 4 + 9 + 25 + 4 + 9) / 6.0 - 25.0 / 9));
}

TEST_CASE("moments: gradients, and theirs") {
  const auto [mean, variance] = tg::moments<0>(tg::tanh(x));
  const auto check = [](const auto& loss) {
    const auto slope = tg::gradient(loss, x);
    const auto bend = tg::sum(tg::square(slope));
    const auto curvature = tg::gradient(bend, x);
    const auto program = tg::compile([=] { return tg::outputs(loss, slope, bend, curvature); });
    tg::session session(program);
    const tg::tensor<double> at({3, 3}, {0.1, 0.9, -0.5, 0.3, 0.7, -0.2, 0.4, 0.6, 0.05});
    tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(loss, slope), x = z); }, at);
    tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(bend, curvature), x = z); }, at);
  };
  check(tg::sum(tg::square(variance)));
  check(tg::sum(tg::square(mean)));
  check(tg::sum(tg::exp(mean) * variance));
}

}  // namespace
