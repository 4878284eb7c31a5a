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

namespace {

using flat = std::vector<double>;

template <class T>
void append(flat& all, const T& values) {
  for (const auto v : values.span()) all.push_back(static_cast<double>(v));
}

/// The variables after some steps of each of two ways to train the same model.
template <class Program, class Train, class W, class B>
flat trained(const Program& program, const Train& train, const W& w, const B& b) {
  tg::session session(program, {.seed = 3});
  flat all;
  for (int step = 0; step < 3; ++step) {
    const tg::tensor<double> at(tg::shape{3, 2}, {1, -2, 3, 0.5, -1, 4});
    session.run(train, x = at, z = tg::tensor<double>({3}, {5, -7, 2}), limit = 0.25);
    append(all, session.run(w));
    append(all, session.run(b));
  }
  return all;
}

struct model {
  decltype(tg::variable<"w", double, 2, 1>(tg::glorot_uniform)) w = tg::variable<"w", double, 2, 1>(tg::glorot_uniform);
  decltype(tg::variable<"b", double, 1>(tg::zeros)) b = tg::variable<"b", double, 1>(tg::zeros);
  [[nodiscard]] auto loss() const { return tg::mean(tg::square(tg::reshape<tg::dyn>(tg::matmul(x, w) + b) - z)); }
};

}  // namespace

TEST_CASE("minimize clips gradients as if they were clipped by hand") {
  const model m;
  const auto loss = m.loss();
  const auto gw = tg::gradient(loss, m.w);
  const auto gb = tg::gradient(loss, m.b);
  const auto by_hand = [&](const auto& w, const auto& b) {
    return tg::apply_gradients(tg::adam{.learning_rate = 0.1},
                               std::make_tuple(std::make_pair(m.w, w), std::make_pair(m.b, b)));
  };
  const auto adam = tg::adam{.learning_rate = 0.1};
  const auto pairs = tg::compute_gradients(loss, m.w, m.b);
  const auto run = [&](const auto& train) {
    const auto program = tg::compile([=] { return tg::outputs(train, m.w, m.b, limit + 0.0); });
    return trained(program, train, m.w, m.b);
  };

  const flat plain = run(tg::minimize(loss, adam));
  const auto [sw, sb] = tg::clip_by_global_norm(0.5, gw, gb);
  const flat global = run(by_hand(sw, sb));
  CHECK(run(tg::minimize(loss, adam, tg::clip_by_global_norm(0.5))) == global);
  CHECK(run(tg::apply_gradients(adam, pairs, tg::clip_by_global_norm(0.5))) == global);
  CHECK(plain != global);

  const flat norm = run(by_hand(tg::clip_by_norm(gw, 1), tg::clip_by_norm(gb, 1)));
  CHECK(run(tg::minimize(loss, adam, tg::clip_by_norm(1))) == norm);
  CHECK(run(tg::apply_gradients(adam, pairs, tg::clip_by_norm(1))) == norm);
  CHECK(norm != global);

  const flat value = run(by_hand(tg::clip_by_value(gw, -0.1, 0.2), tg::clip_by_value(gb, -0.1, 0.2)));
  CHECK(run(tg::minimize(loss, adam, tg::clip_by_value(-0.1, 0.2))) == value);
  CHECK(value != norm);

  // A bound may be fed.
  const auto [fw, fb] = tg::clip_by_global_norm(limit, gw, gb);
  CHECK(run(tg::minimize(loss, adam, tg::clip_by_global_norm(limit))) == run(by_hand(fw, fb)));
}

TEST_CASE("clipped gradients of 16 bits have the norm that they have in the type of the loss") {
  const auto w = tg::variable<"w", tg::float16, 4>(tg::zeros);
  const auto in = tg::placeholder<"in", tg::float16, 4>();
  // Each gradient is 300: their squares are beyond float16, and the norm is 600.
  const auto loss = tg::sum(tg::cast<float>(w * in));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 1}, tg::clip_by_global_norm(6.0f));
  const auto program = tg::compile([=] { return tg::outputs(train, w); });
  tg::session session(program);
  const tg::float16 many[] = {tg::float16(300), tg::float16(300), tg::float16(300), tg::float16(300)};
  session.run(train, in = tg::tensor<tg::float16>({4}, {many[0], many[1], many[2], many[3]}));
  CHECK(static_cast<float>(session.run(w)(0)) == Approx(-3).epsilon(1e-3));
}

TEST_CASE("norms beyond the squares of float16 clip as others do") {
  const auto w = tg::variable<"w", tg::float16, 4>(tg::zeros);
  const auto in = tg::placeholder<"in", tg::float16, 4>();
  const auto norm = tg::global_norm(in, in);
  const auto one = tg::clip_by_norm(in, 6.0f);
  const auto train = tg::minimize(tg::sum(w * in), tg::sgd{.learning_rate = 1}, tg::clip_by_global_norm(6.0f));
  const auto program = tg::compile([=] { return tg::outputs(train, w, norm, one); });
  tg::session session(program);
  tg::tensor<tg::float16> many(tg::shape{4});
  for (tg::extent i = 0; i < 4; ++i) many[i] = tg::float16(300.0f);
  session.run(train, in = many);
  CHECK(static_cast<float>(session.run(w)(0)) == Approx(-3).epsilon(1e-3));
  CHECK(static_cast<float>(session.run(norm, in = many)) == Approx(600 * std::sqrt(2)).epsilon(1e-3));
  CHECK(static_cast<float>(session.run(one, in = many)(3)) == Approx(3).epsilon(1e-3));
}
