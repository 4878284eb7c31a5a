// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/normalize.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

tg::tensor<double> numbers(const tg::shape& dims, int seed) {
  tg::tensor<double> t(dims);
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761u + 12345u;
  for (double& v : t.span()) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<double>(state >> 16) / 32768.0 - 1.0;
  }
  return t;
}

const auto x = tg::placeholder<"x", double, tg::dyn, 3, 2, 4>();
const auto gamma_in = tg::placeholder<"gamma", double, 4>();
const auto beta_in = tg::placeholder<"beta", double, 4>();

}  // namespace

TEST_CASE("a batch is normalised channel by channel", "[normalize]") {
  const auto normal = tg::batch_norm(x, gamma_in, beta_in, 0.01);
  const auto frozen = tg::batch_norm(x, gamma_in, beta_in, normal.mean, normal.variance, 0.01);
  const auto y = normal.output;
  const auto loss = tg::sum(tg::sin(y));
  const auto dx = tg::gradient(loss, x);
  const auto dg = tg::gradient(loss, gamma_in);
  const auto db = tg::gradient(loss, beta_in);
  tg::session session(tg::compile(
      [=] { return tg::outputs(y, normal.mean, normal.variance, frozen, loss, dx, dg, db); }));
  const auto xs = numbers({5, 3, 2, 4}, 1), gs = numbers({4}, 2), bs = numbers({4}, 3);
  const auto [value, mean, variance, same] = session.run(tg::fetch(y, normal.mean, normal.variance, frozen), x = xs,
                                                         gamma_in = gs, beta_in = bs);
  for (tg::extent c = 0; c < 4; ++c) {
    double m = 0, v = 0;
    for (tg::extent i = 0; i < 30; ++i) m += xs[i * 4 + c] / 30;
    for (tg::extent i = 0; i < 30; ++i) v += (xs[i * 4 + c] - m) * (xs[i * 4 + c] - m) / 30;
    CHECK(mean[c] == Approx(m));
    CHECK(variance[c] == Approx(v));
    for (tg::extent i = 0; i < 30; ++i) {
      const double expected = (xs[i * 4 + c] - m) / std::sqrt(v + 0.01) * gs[c] + bs[c];
      CHECK(value[i * 4 + c] == Approx(expected));
      CHECK(same[i * 4 + c] == Approx(expected));
    }
  }
  using tensor = tg::tensor<double>;
  const auto at = [&](const auto& gradient, const tensor& a, const tensor& b, const tensor& c) {
    return session.run(tg::fetch(loss, gradient), x = a, gamma_in = b, beta_in = c);
  };
  tg::test::check_gradient([&](const tensor& v) { return at(dx, v, gs, bs); }, xs);
  tg::test::check_gradient([&](const tensor& v) { return at(dg, xs, v, bs); }, gs);
  tg::test::check_gradient([&](const tensor& v) { return at(db, xs, gs, v); }, bs);
}

TEST_CASE("each example is normalised over its features", "[normalize]") {
  const auto y = tg::layer_norm(x, gamma_in, beta_in, 0.02);
  const auto loss = tg::sum(tg::sin(y));
  const auto dx = tg::gradient(loss, x);
  const auto dg = tg::gradient(loss, gamma_in);
  tg::session session(tg::compile([=] { return tg::outputs(y, loss, dx, dg); }));
  const auto xs = numbers({2, 3, 2, 4}, 1), gs = numbers({4}, 2), bs = numbers({4}, 3);
  const auto value = session.run(y, x = xs, gamma_in = gs, beta_in = bs);
  for (tg::extent row = 0; row < 12; ++row) {
    double m = 0, v = 0;
    for (tg::extent c = 0; c < 4; ++c) m += xs[row * 4 + c] / 4;
    for (tg::extent c = 0; c < 4; ++c) v += (xs[row * 4 + c] - m) * (xs[row * 4 + c] - m) / 4;
    for (tg::extent c = 0; c < 4; ++c)
      CHECK(value[row * 4 + c] == Approx((xs[row * 4 + c] - m) / std::sqrt(v + 0.02) * gs[c] + bs[c]));
  }
  using tensor = tg::tensor<double>;
  tg::test::check_gradient(
      [&](const tensor& v) { return session.run(tg::fetch(loss, dx), x = v, gamma_in = gs, beta_in = bs); }, xs);
  tg::test::check_gradient(
      [&](const tensor& v) { return session.run(tg::fetch(loss, dg), x = xs, gamma_in = v, beta_in = bs); }, gs);
}
