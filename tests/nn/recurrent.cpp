// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/recurrent.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr int steps = 3, features = 3, units = 2;
constexpr auto x = tg::placeholder<"x", double, tg::dyn, steps, features>();

using row = std::vector<double>;

/// A layer's variables, and its steps as loops over plain numbers.
struct weights {
  tg::runtime::session_core& core;

  [[nodiscard]] tg::tensor<double> get(const std::string& name) const {
    for (std::size_t i = 0; i < core.variables().size(); ++i)
      if (core.variable(i).name() == name) {
        const tg::raw_view v = core.variable(i).view();
        return {v.dims, {static_cast<const double*>(v.data), static_cast<std::size_t>(v.dims.elements())}};
      }
    FAIL("no variable " << name);
    return {};
  }
  void set(const std::string& name, const tg::tensor<double>& value) const {
    for (std::size_t i = 0; i < core.variables().size(); ++i)
      if (core.variable(i).name() == name) core.variable(i).assign(value.data());
  }
  /// [x, h] * kernel + bias.
  [[nodiscard]] row product(const row& in, const row& h, const std::string& name) const {
    const auto kernel = get(name + "/kernel"), bias = get(name + "/bias");
    row out;
    for (tg::extent c = 0; c < bias.dims()[0]; ++c) {
      double sum = bias(c);
      for (int i = 0; i < features; ++i) sum += in[static_cast<std::size_t>(i)] * kernel(i, c);
      for (int i = 0; i < units; ++i) sum += h[static_cast<std::size_t>(i)] * kernel(features + i, c);
      out.push_back(sum);
    }
    return out;
  }
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

void step_rnn(const weights& w, const row& in, row& h, row&) {
  h = w.product(in, h, "r");
  for (double& v : h) v = std::tanh(v);
}
void step_gru(const weights& w, const row& in, row& h, row&) {
  const row gates = w.product(in, h, "g/gates");
  row kept;
  for (std::size_t u = 0; u < units; ++u) kept.push_back(sigmoid(gates[u]) * h[u]);
  const row candidate = w.product(in, kept, "g/candidate");
  for (std::size_t u = 0; u < units; ++u) {
    const double update = sigmoid(gates[units + u]);
    h[u] = update * h[u] + (1 - update) * std::tanh(candidate[u]);
  }
}
void step_lstm(const weights& w, const row& in, row& h, row& c) {
  const row g = w.product(in, h, "l");
  for (std::size_t u = 0; u < units; ++u) {
    c[u] = sigmoid(g[2 * units + u] + 1) * c[u] + sigmoid(g[u]) * std::tanh(g[units + u]);
    h[u] = std::tanh(c[u]) * sigmoid(g[3 * units + u]);
  }
}

tg::tensor<double> numbers(const tg::shape& dims, double seed) {
  tg::tensor<double> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i) t[i] = std::sin(seed + 1.7 * static_cast<double>(i));
  return t;
}

/// Compares a layer with its loop, and its gradients by the input and by each variable with difference quotients.
template <class Last, class All, class... V>
void check(const Last& last, const All& all, void (*step)(const weights&, const row&, row&, row&),
           std::vector<std::string> names, const V&... variables) {
  static_assert(Last::spec.dims == tg::shape{tg::dyn, units});
  static_assert(All::spec.dims == tg::shape{tg::dyn, steps, units});
  const auto loss = tg::sum(tg::square(all)) + tg::sum(last);
  const auto by_x = tg::gradient(loss, x);
  const auto slopes = std::make_tuple(tg::gradient(loss, variables)...);
  const auto program = tg::compile(
      [&] { return std::apply([&](const auto&... s) { return tg::outputs(last, all, loss, by_x, s...); }, slopes); });
  tg::session session(program, {.seed = 11});
  const weights w{session.core()};
  REQUIRE(w.core.variables().size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    w.set(names[i], numbers(w.get(names[i]).dims(), static_cast<double>(i)));

  // One fetch of everything, since each set of fetches is compiled by itself.
  const auto input = numbers({2, steps, features}, 5);
  const auto run = [&](const tg::tensor<double>& v) {
    return std::apply([&](const auto&... s) { return session.run(tg::fetch(last, all, loss, by_x, s...), x = v); },
                      slopes);
  };
  const auto found = run(input);
  const auto &end = std::get<0>(found), &sequence = std::get<1>(found);
  for (int b = 0; b < 2; ++b) {
    row h(units, 0.0), c(units, 0.0);
    for (int t = 0; t < steps; ++t) {
      row in;
      for (int f = 0; f < features; ++f) in.push_back(input(b, t, f));
      step(w, in, h, c);
      for (int u = 0; u < units; ++u) CHECK(sequence(b, t, u) == Approx(h[static_cast<std::size_t>(u)]).epsilon(1e-12));
    }
    for (int u = 0; u < units; ++u) CHECK(end(b, u) == sequence(b, steps - 1, u));
  }

  tg::test::check_gradient(
      [&](const tg::tensor<double>& v) {
        const auto all_found = run(v);
        return std::make_tuple(std::get<2>(all_found), std::get<3>(all_found));
      },
      input);
  const auto check_variables = [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      INFO(names[J]);
      const auto before = w.get(names[J]);
      tg::test::check_gradient(
          [&](const tg::tensor<double>& v) {
            w.set(names[J], v);
            const auto all_found = run(input);
            return std::make_tuple(std::get<2>(all_found), std::get<4 + J>(all_found));
          },
          before);
      w.set(names[J], before);
    };
    (one(std::integral_constant<std::size_t, I>{}), ...);
  };
  check_variables(std::index_sequence_for<V...>{});
}

template <class Plan>
constexpr int kernels(std::string_view name) {
  int n = 0;
  for (const auto& s : Plan::steps) n += Plan::nodes[static_cast<std::size_t>(s.node)].op->name == name;
  return n;
}

}  // namespace

TEST_CASE("a simple recurrent layer is its loop") {
  check(tg::rnn<"r", units>(x), tg::rnn<"r", units>(x, tg::return_sequences), step_rnn, {"r/kernel", "r/bias"},
        tg::variable<"r/kernel", double, features + units, units>(tg::glorot_uniform),
        tg::variable<"r/bias", double, units>(tg::zeros));
}

TEST_CASE("a gated recurrent unit is its loop") {
  constexpr tg::extent rows = features + units;
  check(tg::gru<"g", units>(x), tg::gru<"g", units>(x, tg::return_sequences), step_gru,
        {"g/gates/kernel", "g/gates/bias", "g/candidate/kernel", "g/candidate/bias"},
        tg::variable<"g/gates/kernel", double, rows, 2 * units>(tg::glorot_uniform),
        tg::variable<"g/gates/bias", double, 2 * units>(tg::ones),
        tg::variable<"g/candidate/kernel", double, rows, units>(tg::glorot_uniform),
        tg::variable<"g/candidate/bias", double, units>(tg::zeros));
}

TEST_CASE("long short-term memory is its loop") {
  check(tg::lstm<"l", units>(x), tg::lstm<"l", units>(x, tg::return_sequences), step_lstm, {"l/kernel", "l/bias"},
        tg::variable<"l/kernel", double, features + units, 4 * units>(tg::glorot_uniform),
        tg::variable<"l/bias", double, 4 * units>(tg::zeros));
}

TEST_CASE("unrolled layers are their loops") {
  check(tg::lstm<"l", units>(x, tg::last_output | tg::unrolled),
        tg::lstm<"l", units>(x, tg::return_sequences | tg::unrolled), step_lstm, {"l/kernel", "l/bias"},
        tg::variable<"l/kernel", double, features + units, 4 * units>(tg::glorot_uniform),
        tg::variable<"l/bias", double, 4 * units>(tg::zeros));
}

TEST_CASE("threads that share the kernels of a body do not change its bytes") {
  constexpr auto inputs = tg::placeholder<"inputs", float, tg::dyn, 5, 96>();
  const auto last = tg::lstm<"l", 128>(inputs);
  const auto loss = tg::mean(tg::square(last));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, last, train); });
  tg::tensor<float> in({33, 5, 96});
  for (tg::extent i = 0; i < in.dims().elements(); ++i)
    in[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i)));
  tg::session one(program, {.seed = 3, .intra_op_threads = 1}), several(program, {.seed = 3, .intra_op_threads = 4});
  for (int k = 0; k < 4; ++k) {
    const auto [a, state_a, done_a] = one.run(tg::fetch(loss, last, train), inputs = in);
    const auto [b, state_b, done_b] = several.run(tg::fetch(loss, last, train), inputs = in);
    CHECK(a == b);
    REQUIRE(state_a.dims() == state_b.dims());
    CHECK(std::memcmp(state_a.data(), state_b.data(), state_a.span().size() * sizeof(float)) == 0);
  }
}

TEST_CASE("an unrolled layer has its weights once, one product a step, and as many steps as the input") {
  constexpr auto long_input = tg::placeholder<"x", double, tg::dyn, 70, 2>();
  const auto sequence = tg::rnn<"r", 1>(long_input, tg::return_sequences | tg::unrolled, tg::random_uniform(0.1, 0.2));
  const auto program = tg::compile([=] { return tg::outputs(sequence); });
  using plan = decltype(program)::full_plan;
  CHECK(kernels<plan>("matmul") == 70);
  CHECK(kernels<plan>("tile") == 0);
  int variables = 0;
  for (const auto& n : plan::nodes) variables += n.op->name == "variable";
  CHECK(variables == 2);

  // No node joins more than 64 operands.
  static_assert(decltype(sequence)::spec.dims == tg::shape{tg::dyn, 70, 1});
  const auto& last = plan::steps[plan::steps.size() - 1];
  CHECK(plan::nodes[static_cast<std::size_t>(last.node)].op->name == "concat");
  REQUIRE(last.operands == 2);
  const auto extents = [&](int k) {
    return plan::nodes[static_cast<std::size_t>(plan::operands[static_cast<std::size_t>(last.first_operand + k)])]
        .spec.dims;
  };
  CHECK(extents(0) == tg::shape{tg::dyn, 64, 1});
  CHECK(extents(1) == tg::shape{tg::dyn, 6, 1});
}
