// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/normalize.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <type_traits>

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
  tg::session session(
      tg::compile([=] { return tg::outputs(y, normal.mean, normal.variance, frozen, loss, dx, dg, db); }));
  const auto xs = numbers({5, 3, 2, 4}, 1), gs = numbers({4}, 2), bs = numbers({4}, 3);
  const auto [value, mean, variance, same] =
      session.run(tg::fetch(y, normal.mean, normal.variance, frozen), x = xs, gamma_in = gs, beta_in = bs);
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

TEMPLATE_TEST_CASE("rows of 16 bits are normalised whatever their deviation", "[normalize]", tg::float16,
                   tg::bfloat16) {
  using T = TestType;
  const auto rows = tg::placeholder<"rows", T, tg::dyn, 8>();
  const auto scale = tg::placeholder<"scale", T, 8>();
  const auto shift = tg::placeholder<"shift", T, 8>();
  const auto y = tg::layer_norm(rows, scale, shift, 1e-12);
  const auto dx = tg::gradient(tg::sum(y * y * y), rows);
  tg::session session(tg::compile([=] { return tg::outputs(y, dx); }));
  const double sizes[] = {3000, 1, 3e-4, 0};
  tg::tensor<T> in(tg::shape{4, 8}), ones(tg::shape{8}), zeros(tg::shape{8});
  for (tg::extent i = 0; i < 32; ++i)
    in[i] = T(static_cast<float>(sizes[i / 8] * std::sin(1.7 * static_cast<double>(i % 8))));
  for (tg::extent i = 0; i < 8; ++i) ones[i] = T(1.0f), zeros[i] = T(0.0f);
  const auto [value, slope] = session.run(tg::fetch(y, dx), rows = in, scale = ones, shift = zeros);
  const double digits = std::is_same_v<T, tg::float16> ? 2e-3 : 2e-2;
  for (tg::extent r = 0; r < 4; ++r) {
    double mean = 0, power = 0, cube = 0, square = 0;
    double n[8]{};
    const auto at = [&](tg::extent i) { return static_cast<double>(static_cast<float>(in[r * 8 + i])); };
    for (tg::extent i = 0; i < 8; ++i) mean += at(i) / 8;
    for (tg::extent i = 0; i < 8; ++i) power += (at(i) - mean) * (at(i) - mean) / 8;
    const double inverse = 1 / std::sqrt(power + 1e-12);
    for (tg::extent i = 0; i < 8; ++i) n[i] = (at(i) - mean) * inverse;
    for (const double v : n) square += v * v / 8, cube += v * v * v / 8;
    for (tg::extent i = 0; i < 8; ++i) {
      CHECK(static_cast<float>(value[r * 8 + i]) == Approx(n[i]).margin(digits));
      // 3 / deviation * (n^2 - mean(n^2) - n * mean(n^3))
      const double by = 3 * inverse * (n[i] * n[i] - square - n[i] * cube);
      if (r < 3) CHECK(static_cast<float>(slope[r * 8 + i]) == Approx(by).margin(10 * digits * inverse));
    }
  }
}

TEST_CASE("moments of 16 bits have as many", "[normalize]") {
  const auto h = tg::placeholder<"h", tg::bfloat16, tg::dyn, 4>();
  const auto one = tg::placeholder<"one", tg::bfloat16, 4>();
  const auto power = std::get<1>(tg::moments<0>(h));
  const auto normal = tg::batch_norm(h, one, one, 0.01);
  static_assert(decltype(power)::spec == tg::tensor_spec{tg::dtype::bfloat16, {4}});
  static_assert(decltype(normal.variance)::spec == tg::tensor_spec{tg::dtype::bfloat16, {4}});
}
