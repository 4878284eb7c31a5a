// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/optimizers.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

using pair = std::array<double, 2>;

template <tg::fixed_string Name>
auto start(double a, double b) {
  return tg::variable<Name, double, 2>(tg::tensor<double>(tg::shape{2}, {a, b}));
}

/// A loss whose gradient by `v` is fed.
constexpr auto slope = tg::placeholder<"slope", double, 2>();
template <class V>
auto loss_of(const V& v) {
  return tg::sum(v * slope);
}

template <class Session, class Train, class V>
pair after(Session& session, const Train& train, const V& v, int steps, double g0, double g1) {
  const tg::tensor<double> g(tg::shape{2}, {g0, g1});
  for (int i = 0; i < steps; ++i) session.run(train, slope = g);
  const auto value = session.run(v);
  return {value(0), value(1)};
}

void check(const pair& got, double a, double b, double margin = 1e-6) {
  CHECK(got[0] == Approx(a).margin(margin));
  CHECK(got[1] == Approx(b).margin(margin));
}

}  // namespace

// The numbers of adagrad, ftrl and momentum are those of TensorFlow's own unit tests; the others are computed here, in
// plain loops that follow the published formulas.
TEST_CASE("optimizers agree with TensorFlow's numbers") {
  const auto a = start<"adagrad">(1, 2);
  const auto f = start<"ftrl">(0, 0);
  const auto r = start<"ftrl_l1_l2">(1, 2);
  const auto m = start<"momentum">(1, 2);
  const auto train_a = tg::minimize(loss_of(a), tg::adagrad{.learning_rate = 3.0, .initial_accumulator = 0.1});
  const auto train_f = tg::minimize(loss_of(f), tg::ftrl{.learning_rate = 3.0, .initial_accumulator = 0.1});
  const auto train_r =
      tg::minimize(loss_of(r), tg::ftrl{.learning_rate = 3.0, .initial_accumulator = 0.1, .l1 = 0.001, .l2 = 2.0});
  const auto train_m = tg::minimize(loss_of(m), tg::momentum{.learning_rate = 2.0, .momentum = 0.9});
  const auto program =
      tg::compile([=] { return tg::outputs(train_a, train_f, train_r, train_m, a, f, r, m); });
  tg::session session(program);
  check(after(session, train_a, a, 3, 0.1, 0.1), -1.6026098728179932, -0.6026098728179932);
  check(after(session, train_f, f, 3, 0.1, 0.2), -2.60260963, -4.29698515);
  check(after(session, train_r, r, 10, 0.1, 0.2), -0.24059935, -0.46829352);
  const double second = 0.9 * 0.1 + 0.1;
  check(after(session, train_m, m, 2, 0.1, 0.1), 1 - 0.1 * 2.0 - second * 2.0, 2 - 0.1 * 2.0 - second * 2.0);
}

TEST_CASE("optimizers follow their formulas") {
  const auto s = start<"sgd">(1, 2);
  const auto n = start<"nesterov">(1, 2);
  const auto d = start<"adadelta">(1, 2);
  const auto q = start<"rmsprop">(1, 2);
  const auto c = start<"centered">(1, 2);
  const auto a = start<"adam">(1, 2);
  const auto w = start<"adamw">(1, 2);
  const auto train_s = tg::minimize(loss_of(s), tg::sgd{.learning_rate = 0.5});
  const auto train_n = tg::minimize(loss_of(n), tg::momentum{.learning_rate = 0.5, .momentum = 0.8, .nesterov = true});
  const auto train_d = tg::minimize(loss_of(d), tg::adadelta{.learning_rate = 1.0, .rho = 0.9, .epsilon = 1e-2});
  const auto train_q = tg::minimize(loss_of(q), tg::rmsprop{.learning_rate = 0.1, .rho = 0.8, .momentum = 0.5, .epsilon = 1e-3});
  const auto train_c =
      tg::minimize(loss_of(c), tg::centered_rmsprop{.learning_rate = 0.1, .rho = 0.8, .momentum = 0.5, .epsilon = 1e-3});
  const auto train_a = tg::minimize(loss_of(a), tg::adam{.learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4});
  const auto train_w = tg::minimize(
      loss_of(w), tg::adamw{.learning_rate = 0.1, .weight_decay = 0.2, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4});
  const auto program = tg::compile([=] {
    return tg::outputs(train_s, train_n, train_d, train_q, train_c, train_a, train_w, s, n, d, q, c, a, w);
  });
  tg::session session(program);
  constexpr int steps = 4;
  const double g[] = {0.3, -0.7};
  pair vs{1, 2}, vn{1, 2}, vd{1, 2}, vq{1, 2}, vc{1, 2}, va{1, 2}, vw{1, 2};
  for (std::size_t i = 0; i < 2; ++i) {
    double acc = 0, square = 0, update = 0, ms = 1, mom = 0, cms = 1, cmom = 0, mean = 0, m1 = 0, m2 = 0, w1 = 0, w2 = 0;
    for (int t = 1; t <= steps; ++t) {
      vs[i] -= 0.5 * g[i];
      acc = 0.8 * acc + g[i];
      vn[i] -= 0.5 * (g[i] + 0.8 * acc);
      square = 0.9 * square + 0.1 * g[i] * g[i];
      const double u = std::sqrt(update + 1e-2) / std::sqrt(square + 1e-2) * g[i];
      vd[i] -= u;
      update = 0.9 * update + 0.1 * u * u;
      ms += (g[i] * g[i] - ms) * 0.2;
      mom = 0.5 * mom + 0.1 * g[i] / std::sqrt(ms + 1e-3);
      vq[i] -= mom;
      cms += (g[i] * g[i] - cms) * 0.2;
      mean += (g[i] - mean) * 0.2;
      cmom = 0.5 * cmom + 0.1 * g[i] / std::sqrt(cms - mean * mean + 1e-3);
      vc[i] -= cmom;
      const double rate = 0.1 * std::sqrt(1 - std::pow(0.95, t)) / (1 - std::pow(0.8, t));
      m1 += (g[i] - m1) * 0.2, m2 += (g[i] * g[i] - m2) * 0.05;
      va[i] -= rate * m1 / (std::sqrt(m2) + 1e-4);
      vw[i] -= 0.1 * 0.2 * vw[i];
      w1 += (g[i] - w1) * 0.2, w2 += (g[i] * g[i] - w2) * 0.05;
      vw[i] -= rate * w1 / (std::sqrt(w2) + 1e-4);
    }
  }
  check(after(session, train_s, s, steps, g[0], g[1]), vs[0], vs[1], 1e-12);
  check(after(session, train_n, n, steps, g[0], g[1]), vn[0], vn[1], 1e-12);
  check(after(session, train_d, d, steps, g[0], g[1]), vd[0], vd[1], 1e-12);
  check(after(session, train_q, q, steps, g[0], g[1]), vq[0], vq[1], 1e-12);
  check(after(session, train_c, c, steps, g[0], g[1]), vc[0], vc[1], 1e-12);
  check(after(session, train_a, a, steps, g[0], g[1]), va[0], va[1], 1e-12);
  check(after(session, train_w, w, steps, g[0], g[1]), vw[0], vw[1], 1e-12);
}

TEST_CASE("gradients can be changed between compute_gradients and apply_gradients; a step is counted") {
  const auto v = start<"v">(1, 2);
  const auto u = start<"u">(3, 4);
  const auto fixed = tg::variable<"fixed", double, 2>(tg::ones, tg::not_trainable);
  const auto loss = tg::sum(v * slope) + tg::sum(u * u) + tg::sum(fixed * v);
  const auto [of_v, of_u] = tg::compute_gradients(loss, v, u);
  const auto halved = std::make_tuple(std::make_pair(of_v.first, of_v.second * 0.5), of_u);
  const auto train = tg::apply_gradients(tg::sgd{.learning_rate = 0.1}, halved);
  const auto step = tg::variable<"sgd/step", std::int64_t>(tg::zeros, tg::not_trainable);
  const auto program = tg::compile([=] { return tg::outputs(train, v, u, step, fixed); });
  tg::session session(program);
  check(after(session, train, v, 1, 2, 4), 1 - 0.1 * 0.5 * 3, 2 - 0.1 * 0.5 * 5, 1e-12);
  const auto value = session.run(u);
  CHECK(value(0) == Approx(3 - 0.1 * 6));
  CHECK(value(1) == Approx(4 - 0.1 * 8));
  CHECK(session.run(fixed) == tg::tensor<double>(tg::shape{2}, {1.0, 1.0}));
  CHECK(session.run(step) == 1);
}

TEST_CASE("a sparse gradient updates only its rows, and rows of equal index add up") {
  constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();
  const auto table = tg::variable<"table", float, 4, 2>(tg::ones);
  const auto rows = tg::embedding_lookup(table, ids);
  const auto loss = tg::sum(rows * rows);
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.25});
  const auto program = tg::compile([=] { return tg::outputs(train, table); });
  tg::session session(program);
  session.run(train, ids = tg::tensor<std::int32_t>(tg::shape{3}, {1, 3, 1}));
  CHECK(session.run(table) == tg::tensor<float>(tg::shape{4, 2}, {1, 1, 0, 0, 1, 1, 0.5f, 0.5f}));
}
