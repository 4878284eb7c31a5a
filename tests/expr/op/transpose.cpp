// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/transpose.hpp"

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("transpose: shapes of the result are known to the compiler") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3, 4>();
  constexpr auto reversed = tg::transpose(x);
  constexpr auto rotated = tg::transpose<1, -1, 0>(x);
  STATIC_REQUIRE(reversed.spec == tg::tensor_spec{tg::dtype::float32, {4, 3, tg::dyn}});
  STATIC_REQUIRE(rotated.spec == tg::tensor_spec{tg::dtype::float32, {3, 4, tg::dyn}});
  STATIC_REQUIRE(!tg::diagnose::is_permutation<tg::spec<float, 2, 3>, 0, 0>);
  STATIC_REQUIRE(!tg::diagnose::is_permutation<tg::spec<float, 2, 3>, 0>);
  STATIC_REQUIRE(!tg::diagnose::is_permutation<tg::spec<float, 2, 3>, 0, 2>);
}

TEST_CASE("transpose: values, gradients, and the gradient of a gradient") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 3, 2>();
  constexpr auto weight = tg::placeholder<"weight", double, 3, 2, tg::dyn>();
  constexpr auto rotated = tg::transpose<1, 2, 0>(x);
  constexpr auto back = tg::transpose<-1, 0, 1>(rotated);
  constexpr auto same = tg::transpose<0, 1, 2>(x);
  constexpr auto loss = tg::sum(tg::square(rotated) * weight);
  constexpr auto slope = tg::gradient(loss, x);
  constexpr auto curvature = tg::gradient(tg::sum(tg::square(slope)), x);
  const auto program = tg::compile([=] { return tg::outputs(rotated, back, same, loss, slope, curvature); });
  tg::session session(program);

  tg::tensor<double> in(tg::shape{2, 3, 2}), w(tg::shape{3, 2, 2});
  for (tg::extent i = 0; i < 12; ++i) in[i] = 0.25 * static_cast<double>(i) - 1, w[i] = static_cast<double>(i % 5) - 2;
  const auto [r, b, s, f, g, c] =
      session.run(tg::fetch(rotated, back, same, loss, slope, curvature), x = in, weight = w);
  for (tg::extent i = 0; i < 2; ++i)
    for (tg::extent j = 0; j < 3; ++j)
      for (tg::extent k = 0; k < 2; ++k) {
        CHECK(r(j, k, i) == in(i, j, k));
        CHECK(g(i, j, k) == Approx(2 * in(i, j, k) * w(j, k, i)).margin(1e-12));
        CHECK(c(i, j, k) == Approx(8 * in(i, j, k) * w(j, k, i) * w(j, k, i)).margin(1e-12));
      }
  CHECK(b == in);
  CHECK(s == in);
  tg::test::check_gradient([&](const auto& v) { return session.run(tg::fetch(loss, slope), x = v, weight = w); }, in);
}
