// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/average_gradients.hpp"

#include <catch2/catch.hpp>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", double, 3>();
constexpr auto v = tg::variable<"v", double, 3>(tg::zeros);
constexpr auto u = tg::variable<"u", double>(tg::ones);

}  // namespace

TEST_CASE("gradients of towers are averaged variable by variable") {
  const auto first = tg::compute_gradients(tg::sum(v * x) + u * tg::sum(x), v, u);
  const auto second = tg::compute_gradients(tg::sum(v * x * x) - u, v, u);
  const auto third = tg::compute_gradients(2.0 * tg::sum(v) + u * u, v, u);
  const auto [of_v, of_u] = tg::average_gradients(first, second, third);
  const auto gv = of_v.second;
  const auto gu = of_u.second;
  static_assert(decltype(of_v.first)::record().name == "v" && decltype(of_u.first)::record().name == "u");
  const auto train = tg::apply_gradients(tg::sgd{.learning_rate = 1.0}, std::make_tuple(of_v, of_u));
  tg::session session(tg::compile([=] { return tg::outputs(gv, gu, train, v, u); }));
  const tg::tensor<double> fed({3}, {1, 2, 3});
  const auto [a, b] = session.run(tg::fetch(gv, gu), x = fed);
  for (int i = 0; i < 3; ++i) CHECK(a[i] == Approx((fed[i] + fed[i] * fed[i] + 2) / 3));
  CHECK(b == Approx((6 - 1 + 2) / 3.0));
  session.run(train, x = fed);
  const auto [v_after, u_after] = session.run(tg::fetch(v, u));
  for (int i = 0; i < 3; ++i) CHECK(v_after[i] == -a[i]);
  CHECK(u_after == 1 - b);
}

TEST_CASE("one tower is its own average") {
  const auto alone = tg::compute_gradients(tg::sum(v * x), v);
  const auto gradient = std::get<0>(tg::average_gradients(alone)).second;
  tg::session session(tg::compile([=] { return tg::outputs(gradient); }));
  const tg::tensor<double> fed({3}, {0.1, -2, 3});
  CHECK(session.run(gradient, x = fed) == fed);
}

TEST_CASE("a variable inside a device scope is the variable of that name") {
  const auto there = tg::on<tg::cpu<0>>(v);
  const auto first = tg::compute_gradients(tg::sum(v * x), v);
  const auto second = tg::compute_gradients(3.0 * tg::sum(there * x), there);
  const auto gradient = std::get<0>(tg::average_gradients(first, second)).second;
  tg::session session(tg::compile([=] { return tg::outputs(gradient); }));
  const tg::tensor<double> fed({3}, {1, 2, 3});
  const auto found = session.run(gradient, x = fed);
  for (int i = 0; i < 3; ++i) CHECK(found[i] == 2 * fed[i]);
}
