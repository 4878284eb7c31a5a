// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/scan.hpp"

#include "support/gradient_check.hpp"
#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("cumsum: values and gradients in both directions, with each element and without") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 3>();
  constexpr auto down = tg::cumsum<0>(x);
  constexpr auto across = tg::cumsum<-1, tg::cumsum_options{.exclusive = true}>(x);
  constexpr auto back = tg::cumsum<1, tg::cumsum_options{.reverse = true}>(x);
  constexpr auto both = tg::cumsum<1, tg::cumsum_options{.exclusive = true, .reverse = true}>(x);
  STATIC_REQUIRE(down.spec == x.spec);
  constexpr auto loss = tg::sum(tg::square(down) * across) + tg::sum(tg::square(back) * both);
  constexpr auto slope = tg::gradient(loss, x);
  constexpr auto bend = tg::sum(tg::square(slope));
  constexpr auto curvature = tg::gradient(bend, x);
  const auto program = tg::compile([=] { return tg::outputs(down, across, back, both, loss, slope, bend, curvature); });
  tg::session session(program);

  const tg::tensor<double> in(tg::shape{2, 3}, {1, 2, 3, 10, 20, 30});
  const auto [d, a, r, e] = session.run(tg::fetch(down, across, back, both), x = in);
  CHECK(d == tg::tensor<double>(tg::shape{2, 3}, {1, 2, 3, 11, 22, 33}));
  CHECK(a == tg::tensor<double>(tg::shape{2, 3}, {0, 1, 3, 0, 10, 30}));
  CHECK(r == tg::tensor<double>(tg::shape{2, 3}, {6, 5, 3, 60, 50, 30}));
  CHECK(e == tg::tensor<double>(tg::shape{2, 3}, {5, 3, 0, 50, 30, 0}));
  const tg::tensor<double> at(tg::shape{2, 3}, {0.1, 0.9, -0.5, 0.3, -0.2, 0.4});
  tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(loss, slope), x = z); }, at);
  tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(bend, curvature), x = z); }, at);
}
