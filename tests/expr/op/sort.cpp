// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/sort.hpp"

#include "support/gradient_check.hpp"
#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("sort and argsort: values, positions, gradients") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, tg::dyn>();
  constexpr auto up = tg::sort(x);
  constexpr auto down = tg::sort(x, tg::descending);
  constexpr auto up_at = tg::argsort(x);
  constexpr auto down_at = tg::argsort(x, tg::descending);
  STATIC_REQUIRE(up.spec == x.spec);
  STATIC_REQUIRE(up_at.spec == tg::tensor_spec{tg::dtype::int64, {tg::dyn, tg::dyn}});
  STATIC_REQUIRE(tg::diagnose::has_an_axis<tg::spec<float, 2>>);
  STATIC_REQUIRE(!tg::diagnose::has_an_axis<tg::spec<float>>);
  constexpr auto loss = tg::sum(tg::square(up) * x) + tg::sum(tg::exp(down) * x);
  constexpr auto slope = tg::gradient(loss, x);
  constexpr auto bend = tg::sum(tg::square(slope));
  constexpr auto curvature = tg::gradient(bend, x);
  const auto program = tg::compile([=] { return tg::outputs(up, down, up_at, down_at, loss, slope, bend, curvature); });
  tg::session session(program);

  const tg::tensor<double> in(tg::shape{2, 4}, {3, 1, 2, 1, -1, 5, 5, -7});
  const auto [u, d, ua, da] = session.run(tg::fetch(up, down, up_at, down_at), x = in);
  CHECK(u == tg::tensor<double>(tg::shape{2, 4}, {1, 1, 2, 3, -7, -1, 5, 5}));
  CHECK(d == tg::tensor<double>(tg::shape{2, 4}, {3, 2, 1, 1, 5, 5, -1, -7}));
  CHECK(ua == tg::tensor<std::int64_t>(tg::shape{2, 4}, {1, 3, 2, 0, 3, 0, 1, 2}));
  CHECK(da == tg::tensor<std::int64_t>(tg::shape{2, 4}, {0, 2, 1, 3, 1, 2, 0, 3}));
  CHECK(session.run(up, x = tg::tensor<double>(tg::shape{3, 0})).size() == 0);
  const tg::tensor<double> at(tg::shape{2, 4}, {0.1, 0.9, -0.5, 0.3, -0.2, 0.4, 0.6, 0.05});
  tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(loss, slope), x = z); }, at);
  tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(bend, curvature), x = z); }, at);
}
