// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/top_k.hpp"

#include <vector>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("top_k: values, positions, gradients") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 5>();
  constexpr auto best = tg::top_k<3>(x);
  constexpr auto values = best.first;
  constexpr auto positions = best.second;
  constexpr auto second = tg::top_k_values<2>(tg::square(x));
  constexpr auto where = tg::top_k_indices<1>(x);
  STATIC_REQUIRE(values.spec == tg::tensor_spec{tg::dtype::float64, {tg::dyn, 3}});
  STATIC_REQUIRE(positions.spec == tg::tensor_spec{tg::dtype::int64, {tg::dyn, 3}});
  STATIC_REQUIRE(!tg::diagnose::has_k_elements<tg::spec<float, 2, 4>, 5>);
  STATIC_REQUIRE(!tg::diagnose::has_k_elements<tg::spec<float>, 1>);
  constexpr auto loss = tg::sum(tg::square(values) * values) + tg::sum(second);
  constexpr auto slope = tg::gradient(loss, x);
  constexpr auto bend = tg::sum(tg::square(slope));
  constexpr auto curvature = tg::gradient(bend, x);
  const auto program = tg::compile([=] { return tg::outputs(values, positions, where, loss, slope, bend, curvature); });
  tg::session session(program);

  const tg::tensor<double> in(tg::shape{2, 5}, {1, 5, 3, 5, 2, -1, -2, -3, -4, -5});
  const auto [v, p, w] = session.run(tg::fetch(values, positions, where), x = in);
  CHECK(v == tg::tensor<double>(tg::shape{2, 3}, {5, 5, 3, -1, -2, -3}));
  CHECK(p == tg::tensor<std::int64_t>(tg::shape{2, 3}, {1, 3, 2, 0, 1, 2}));
  CHECK(w == tg::tensor<std::int64_t>(tg::shape{2, 1}, {1, 0}));
  const tg::tensor<double> at(tg::shape{2, 5}, {0.1, 0.9, -0.5, 0.3, 0.7, -0.2, 0.4, 0.6, 0.05, -0.8});
  tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(loss, slope), x = z); }, at);
  tg::test::check_gradient([&](const auto& z) { return session.run(tg::fetch(bend, curvature), x = z); }, at);
}

TEST_CASE("top_k: rows that are too short in a run are an error that says so") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
  constexpr auto values = tg::top_k_values<3>(x);
  const auto program = tg::compile([=] { return tg::outputs(values); });
  tg::session session(program);
  CHECK(session.run(values, x = std::vector<float>{1, 2, 3, 4}) == tg::tensor<float>(tg::shape{3}, {4, 3, 2}));
  CHECK_THROWS_WITH(session.run(values, x = std::vector<float>{1, 2}),
                    Catch::Contains("fewer elements than are asked for"));
}
