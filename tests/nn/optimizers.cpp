// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/optimizers.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tagma/runtime/named_variables.hpp"
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
  const auto k = start<"ftrl_shrinkage">(1, 2);
  const auto m = start<"momentum">(1, 2);
  const auto train_a = tg::minimize(loss_of(a), tg::adagrad{.learning_rate = 3.0, .initial_accumulator = 0.1});
  const auto train_f = tg::minimize(loss_of(f), tg::ftrl{.learning_rate = 3.0, .initial_accumulator = 0.1});
  const auto train_r =
      tg::minimize(loss_of(r), tg::ftrl{.learning_rate = 3.0, .initial_accumulator = 0.1, .l1 = 0.001, .l2 = 2.0});
  const auto train_k = tg::minimize(
      loss_of(k), tg::ftrl{.learning_rate = 3.0, .initial_accumulator = 0.1, .l1 = 0.001, .l2 = 2.0, .shrinkage = 0.1});
  const auto train_m = tg::minimize(loss_of(m), tg::momentum{.learning_rate = 2.0, .momentum = 0.9});
  const auto program =
      tg::compile([=] { return tg::outputs(train_a, train_f, train_r, train_k, train_m, a, f, r, k, m); });
  tg::session session(program);
  check(after(session, train_a, a, 3, 0.1, 0.1), -1.6026098728179932, -0.6026098728179932);
  check(after(session, train_f, f, 3, 0.1, 0.2), -2.60260963, -4.29698515);
  check(after(session, train_r, r, 10, 0.1, 0.2), -0.24059935, -0.46829352);
  check(after(session, train_k, k, 10, 0.1, 0.2), -0.22578995, -0.44345796);
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
  const auto train_q =
      tg::minimize(loss_of(q), tg::rmsprop{.learning_rate = 0.1, .rho = 0.8, .momentum = 0.5, .epsilon = 1e-3});
  const auto train_c = tg::minimize(
      loss_of(c), tg::centered_rmsprop{.learning_rate = 0.1, .rho = 0.8, .momentum = 0.5, .epsilon = 1e-3});
  const auto train_a =
      tg::minimize(loss_of(a), tg::adam{.learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4});
  const auto train_w = tg::minimize(
      loss_of(w), tg::adamw{.learning_rate = 0.1, .weight_decay = 0.2, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4});
  const auto program = tg::compile(
      [=] { return tg::outputs(train_s, train_n, train_d, train_q, train_c, train_a, train_w, s, n, d, q, c, a, w); });
  tg::session session(program);
  constexpr int steps = 4;
  const double g[] = {0.3, -0.7};
  pair vs{1, 2}, vn{1, 2}, vd{1, 2}, vq{1, 2}, vc{1, 2}, va{1, 2}, vw{1, 2};
  for (std::size_t i = 0; i < 2; ++i) {
    double acc = 0, square = 0, update = 0, ms = 1, mom = 0, cms = 1, cmom = 0, mean = 0, m1 = 0, m2 = 0, w1 = 0,
           w2 = 0;
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

namespace {

constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();
constexpr auto weights = tg::placeholder<"weights", double, tg::dyn, 3>();

/// One element of a table and of up to three slots.
struct element {
  double v = 0;
  double s[3]{};
};

/// The value of a variable of a session, found by its name.
template <class Program>
const double* variable_of(tg::session<Program>& session, const std::string& name) {
  auto& core = session.core();
  for (std::size_t i = 0; i < core.variables().size(); ++i)
    if (core.variable(i).name() == name) return static_cast<const double*>(core.variable(i).view().data);
  FAIL("there is no variable " << name);
  return nullptr;
}

/// The steps of a program that are of one operation.
template <class Program>
int steps_of(const Program&, std::string_view name) {
  using plan = typename Program::full_plan;
  int count = 0;
  for (const auto& step : plan::steps) count += plan::nodes[static_cast<std::size_t>(step.node)].op->name == name;
  return count;
}

/// Two steps with indices that stand twice, against `rule(element, gradient, step)`; rows that do not occur keep their
/// bytes, unless the rule wants all of them.
template <class Optimizer, class Rule>
void check_rows(const Optimizer& optimizer, const std::vector<std::string>& slots, bool all_rows, Rule rule) {
  constexpr int rows = 5, width = 3;
  tg::tensor<double> start(tg::shape{rows, width});
  for (tg::extent i = 0; i < rows * width; ++i) start[i] = 0.25 * static_cast<double>(i) - 1.5;
  const auto table = tg::variable<"table", double, rows, width>(start);
  const auto train = tg::minimize(tg::sum(tg::embedding_lookup(table, ids) * weights), optimizer);
  const auto program = tg::compile([=] { return tg::outputs(train, table); });
  CHECK(steps_of(program, "scatter_rows") == 0);
  tg::session session(program);
  (void)session.run(table);  // gives variables their values

  element expected[rows * width];
  for (int i = 0; i < rows * width; ++i) {
    expected[i].v = start[i];
    for (std::size_t k = 0; k < slots.size(); ++k) expected[i].s[k] = variable_of(session, "table" + slots[k])[i];
  }
  const std::int32_t indices[2][4] = {{3, 1, 3, 3}, {0, 3, 0, 1}};
  for (int t = 0; t < 2; ++t) {
    tg::tensor<std::int32_t> at(tg::shape{4});
    tg::tensor<double> g(tg::shape{4, width});
    double sum[rows * width]{};
    bool occurs[rows]{};
    for (int i = 0; i < 4; ++i) {
      at[i] = indices[t][i];
      occurs[at[i]] = true;
      for (int k = 0; k < width; ++k) {
        g(i, k) = 0.3 * (i + 1) - 0.2 * k + 0.1 * t;
        sum[at[i] * width + k] += g(i, k);
      }
    }
    element before[rows * width];
    for (int i = 0; i < rows * width; ++i) {
      before[i].v = variable_of(session, "table")[i];
      for (std::size_t k = 0; k < slots.size(); ++k) before[i].s[k] = variable_of(session, "table" + slots[k])[i];
    }
    session.run(train, ids = at, weights = g);
    for (int i = 0; i < rows * width; ++i) {
      CAPTURE(t, i);
      element& e = expected[i];
      if (occurs[i / width] || all_rows) rule(e, sum[i], t + 1);
      const double v = variable_of(session, "table")[i];
      CHECK(v == Approx(e.v).epsilon(1e-12).margin(1e-12));
      if (!occurs[i / width] && !all_rows) CHECK(v == before[i].v);
      for (std::size_t k = 0; k < slots.size(); ++k) {
        const double s = variable_of(session, "table" + slots[k])[i];
        CHECK(s == Approx(e.s[k]).epsilon(1e-12).margin(1e-12));
        if (!occurs[i / width] && !all_rows) CHECK(s == before[i].s[k]);
      }
    }
  }
}

}  // namespace

TEST_CASE("a sparse gradient updates its rows and those of the slots; rows of equal index add up first") {
  check_rows(tg::sgd{.learning_rate = 0.5}, {}, false, [](element& e, double g, int) { e.v -= 0.5 * g; });
  check_rows(tg::momentum{.learning_rate = 0.5, .momentum = 0.8}, {"/momentum"}, false, [](element& e, double g, int) {
    e.s[0] = 0.8 * e.s[0] + g;
    e.v -= 0.5 * e.s[0];
  });
  check_rows(tg::momentum{.learning_rate = 0.5, .momentum = 0.8, .nesterov = true}, {"/momentum"}, false,
             [](element& e, double g, int) {
               e.s[0] = 0.8 * e.s[0] + g;
               e.v -= 0.5 * (g + 0.8 * e.s[0]);
             });
  check_rows(tg::adagrad{.learning_rate = 0.5}, {"/adagrad"}, false, [](element& e, double g, int) {
    e.s[0] += g * g;
    e.v -= 0.5 * g / std::sqrt(e.s[0]);
  });
  check_rows(tg::adadelta{.learning_rate = 1.0, .rho = 0.9, .epsilon = 1e-2}, {"/adadelta_square", "/adadelta_update"},
             false, [](element& e, double g, int) {
               e.s[0] = 0.9 * e.s[0] + 0.1 * g * g;
               const double u = std::sqrt(e.s[1] + 1e-2) / std::sqrt(e.s[0] + 1e-2) * g;
               e.v -= u;
               e.s[1] = 0.9 * e.s[1] + 0.1 * u * u;
             });
  check_rows(tg::rmsprop{.learning_rate = 0.1, .rho = 0.8, .momentum = 0.5, .epsilon = 1e-3},
             {"/rmsprop_square", "/rmsprop_momentum"}, false, [](element& e, double g, int) {
               e.s[0] += (g * g - e.s[0]) * 0.2;
               e.s[1] = 0.5 * e.s[1] + 0.1 * g / std::sqrt(e.s[0] + 1e-3);
               e.v -= e.s[1];
             });
  check_rows(tg::centered_rmsprop{.learning_rate = 0.1, .rho = 0.8, .momentum = 0.5, .epsilon = 1e-3},
             {"/rmsprop_square", "/rmsprop_momentum", "/rmsprop_mean"}, false, [](element& e, double g, int) {
               e.s[0] += (g * g - e.s[0]) * 0.2;
               e.s[2] += (g - e.s[2]) * 0.2;
               e.s[1] = 0.5 * e.s[1] + 0.1 * g / std::sqrt(e.s[0] - e.s[2] * e.s[2] + 1e-3);
               e.v -= e.s[1];
             });
  check_rows(tg::ftrl{.learning_rate = 0.5, .l1 = 0.1, .l2 = 0.3, .shrinkage = 0.2},
             {"/ftrl_accumulator", "/ftrl_linear"}, false, [](element& e, double g, int) {
               const double next = e.s[0] + g * g, shrunk = g + 2 * 0.2 * e.v;
               e.s[1] += shrunk - (std::sqrt(next) - std::sqrt(e.s[0])) / 0.5 * e.v;
               const double bound = e.s[1] > 0 ? 0.1 : -0.1;
               e.v = std::abs(e.s[1]) > 0.1 ? (bound - e.s[1]) / (std::sqrt(next) / 0.5 + 2 * 0.3) : 0;
               e.s[0] = next;
             });
}

TEST_CASE("with a sparse gradient Adam moves all rows, as with a gradient that is zero elsewhere") {
  const auto adam = [](element& e, double g, int t) {
    const double rate = 0.1 * std::sqrt(1 - std::pow(0.95, t)) / (1 - std::pow(0.8, t));
    e.s[0] += (g - e.s[0]) * 0.2;
    e.s[1] += (g * g - e.s[1]) * 0.05;
    e.v -= rate * e.s[0] / (std::sqrt(e.s[1]) + 1e-4);
  };
  check_rows(tg::adam{.learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4}, {"/adam_m", "/adam_v"}, true,
             adam);
  check_rows(tg::adamw{.learning_rate = 0.1, .weight_decay = 0.2, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4},
             {"/adamw_m", "/adamw_v"}, true, [adam](element& e, double g, int t) {
               e.v -= 0.1 * 0.2 * e.v;
               adam(e, g, t);
             });
}

TEST_CASE("a large table: nothing of its size in the arena, the bytes of a dense update, for any number of threads") {
  constexpr tg::extent rows = 100'000, width = 64, batch = 6000;
  constexpr auto at = tg::placeholder<"at", std::int64_t, tg::dyn>();
  const auto sparse = tg::variable<"sparse", float, rows, width>(tg::zeros);
  const auto also_sparse = tg::variable<"also_sparse", float, rows, width>(tg::zeros);
  const auto dense = tg::variable<"dense", float, rows, width>(tg::zeros);
  const auto loss_of_table = [at](const auto& table) {
    return tg::sum(tg::exp(tg::embedding_lookup(table, at) + tg::cast<float>(tg::expand_dims<1>(at)) * 1e-6f));
  };
  const auto adam = tg::minimize(loss_of_table(sparse), tg::adam{});
  const auto adagrad = tg::minimize(loss_of_table(also_sparse), tg::adagrad{});
  const auto [pair] = tg::compute_gradients(loss_of_table(dense), dense);
  const auto changed = std::make_tuple(std::make_pair(pair.first, pair.second * 1.0f));
  const auto dense_adam = tg::apply_gradients(tg::adam{}, changed);
  const auto program = tg::compile([=] { return tg::outputs(adam, adagrad, sparse, also_sparse); });
  STATIC_REQUIRE(decltype(program)::peak_bytes(32) < 10 * 32 * width * 4);
  const auto reference = tg::compile([=] { return tg::outputs(dense_adam, dense); });
  STATIC_REQUIRE(decltype(reference)::peak_bytes(32) >= rows * width * 4);

  tg::tensor<std::int64_t> indices(tg::shape{batch});
  for (tg::extent i = 0; i < batch; ++i) indices[i] = i * i % 4999 * 20 + i % 2;
  tg::session expected(reference, {.intra_op_threads = 1});
  for (int t = 0; t < 2; ++t) expected.run(dense_adam, at = indices);
  const tg::tensor<float> by_dense = expected.run(dense);
  tg::tensor<float> by_one;
  for (const int threads : {1, 2, 4}) {
    tg::session session(program, {.intra_op_threads = threads});
    for (int t = 0; t < 2; ++t) session.run(tg::fetch(adam, adagrad), at = indices);
    CHECK((session.run(sparse) == by_dense));  // in brackets, since nobody wants to read six million numbers
    const tg::tensor<float> by_rows = session.run(also_sparse);
    if (threads == 1) by_one = by_rows;
    CHECK((by_rows == by_one));
    CHECK(by_rows(indices[7], 3) != 0);
    CHECK(by_rows(17, 3) == 0);
  }
}

TEST_CASE("a table that is looked up twice has one sparse gradient") {
  constexpr auto other = tg::placeholder<"other", std::int64_t, tg::dyn, 2>();
  const auto table = tg::variable<"table", float, 300, 2>(tg::ones);
  const auto scalars = tg::variable<"scalars", float, 4>(tg::ones);
  const auto loss = tg::sum(tg::embedding_lookup(table, ids)) + tg::sum(tg::embedding_lookup(table, other) * 2.0f) +
                    tg::sum(tg::embedding_lookup(table, ids + 1) * 4.0f) + tg::sum(tg::gather(scalars, ids));
  const auto train = tg::minimize(loss, tg::adagrad{.learning_rate = 1.0, .initial_accumulator = 1e-20});
  const auto step = tg::minimize(loss, tg::sgd{.learning_rate = 1.0});
  const auto program = tg::compile([=] { return tg::outputs(train, step, table, scalars); });
  CHECK(steps_of(program, "scatter_rows") == 0);
  tg::session session(program);
  const tg::tensor<std::int32_t> first(tg::shape{3}, {1, 2, 1});
  const tg::tensor<std::int64_t> second(tg::shape{1, 2}, {299, 2});
  session.run(step, ids = first, other = second);
  auto value = session.run(table);
  const auto is = [&](tg::extent row, float expected) {
    return value(row, 0) == expected && value(row, 1) == expected;
  };
  CHECK(is(0, 1));
  CHECK(is(1, 1 - 2));
  CHECK(is(2, 1 - 1 - 2 - 8));
  CHECK(is(3, 1 - 4));
  CHECK(is(299, 1 - 2));
  CHECK(session.run(scalars) == tg::tensor<float>(tg::shape{4}, {1, -1, 0, 1}));
  session.run(train, ids = first, other = second);  // the first step of adagrad from nothing is a step of 1
  value = session.run(table);
  CHECK(value(2, 0) == Approx(1 - 1 - 2 - 8 - 1));
  CHECK(value(3, 1) == Approx(1 - 4 - 1));
  CHECK(is(0, 1));
}

TEST_CASE(
    "a gradient with a dense part or along another axis stays dense; rows may be worked out from the table itself") {
  const auto table = tg::variable<"table", float, 3, 2>(tg::tensor<float>(tg::shape{3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto rows = tg::embedding_lookup(table, ids);
  const auto part = tg::minimize(tg::sum(rows) + tg::sum(table), tg::sgd{.learning_rate = 1.0});
  const auto axis = tg::minimize(tg::sum(tg::gather<1>(table, ids)), tg::sgd{.learning_rate = 1.0});
  const auto itself = tg::minimize(tg::sum(rows * tg::stop_gradient(table)), tg::sgd{.learning_rate = 1.0});
  const auto program = tg::compile([=] { return tg::outputs(part, axis, itself, table); });
  CHECK(steps_of(program, "scatter_rows") == 2);  // of `part` and `axis`
  const auto run = [&](const auto& train, const tg::tensor<std::int32_t>& at) {
    tg::session session(program);
    session.run(train, ids = at);
    return session.run(table);
  };
  const tg::tensor<std::int32_t> turned(tg::shape{3}, {1, 0, 0}), last(tg::shape{1}, {1});
  CHECK(run(part, turned) == tg::tensor<float>(tg::shape{3, 2}, {-2, -1, 1, 2, 4, 5}));
  CHECK(run(axis, last) == tg::tensor<float>(tg::shape{3, 2}, {1, 1, 3, 3, 5, 5}));
  // Row 1 receives the old row 0; row 0 the old rows 1 and 2.
  CHECK(run(itself, turned) == tg::tensor<float>(tg::shape{3, 2}, {1 - 3 - 5, 2 - 4 - 6, 3 - 1, 4 - 2, 5, 6}));
}

TEST_CASE("a loss may be a variable itself") {
  const auto v = tg::variable<"v", double>(3.0);
  const auto train = tg::minimize(v, tg::sgd{.learning_rate = 0.25});
  tg::session session(tg::compile([=] { return tg::outputs(train, v); }));
  session.run(train);
  session.run(train);
  CHECK(session.run(v) == 2.5);
}

TEST_CASE("the two optimizers of RMSProp share the slots of a variable that both train") {
  const auto w = tg::variable<"w", double>(1.0);
  const auto loss = tg::square(w);
  const auto plain = tg::minimize(loss, tg::rmsprop{.learning_rate = 0.5});
  const auto centered = tg::minimize(loss, tg::centered_rmsprop{.learning_rate = 0.5});
  tg::session session(tg::compile([=] { return tg::outputs(plain, centered, w); }));
  const auto square = [&] { return tg::get_variable(session, "w/rmsprop_square").value<double>(); };
  session.run(plain);  // the gradient is 2
  CHECK(square() == Approx(1 + 0.1 * (4 - 1)));
  const double at = session.run(w);
  session.run(centered);
  CHECK(square() == Approx(1.3 + 0.1 * (4 * at * at - 1.3)));
}
