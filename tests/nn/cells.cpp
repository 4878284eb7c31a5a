// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/cells.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr tg::extent features = 2, units = 3;
constexpr auto x = tg::placeholder<"x", double, tg::dyn, features>();
constexpr auto h = tg::placeholder<"h", double, tg::dyn, units>();
constexpr auto c = tg::placeholder<"c", double, tg::dyn, units>();

tg::tensor<double> numbers(const tg::shape& dims, double seed) {
  tg::tensor<double> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i) t[i] = 0.7 * std::sin(seed + 1.7 * static_cast<double>(i));
  return t;
}

/// The same out of elementary operations.
template <class X, class H, class C, class K, class B>
auto plain_lstm(const X& in, const H& state, const C& memory, const K& kernel, const B& bias) {
  const auto [i, j, f, o] = tg::split<1, 4>(tg::matmul(tg::concat<1>(in, state), kernel) + bias);
  const auto next = tg::sigmoid(f + 1.0) * memory + tg::sigmoid(i) * tg::tanh(j);
  return std::tuple{tg::tanh(next) * tg::sigmoid(o), next};
}
template <class X, class H, class K, class B, class K2, class B2>
auto plain_gru(const X& in, const H& state, const K& gates, const B& gates_bias, const K2& candidate, const B2& bias) {
  const auto [r, u] = tg::split<1, 2>(tg::sigmoid(tg::matmul(tg::concat<1>(in, state), gates) + gates_bias));
  const auto next = tg::tanh(tg::matmul(tg::concat<1>(in, r * state), candidate) + bias);
  return u * state + (1.0 - u) * next;
}

/// Fetches of two programs are equal within rounding.
template <class Found, class Expected, class... Feed>
void compare(const Found& found, const Expected& expected, const Feed&... feed) {
  const auto program = tg::compile([=] { return tg::outputs(found); });
  const auto reference = tg::compile([=] { return tg::outputs(expected); });
  tg::session session(program, {.seed = 3});
  tg::session other(reference, {.seed = 3});
  const auto a = session.run(found, feed...);
  const auto b = other.run(expected, feed...);
  REQUIRE(a.dims() == b.dims());
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).margin(1e-12));
}

const auto kernel = tg::variable<"kernel", double, features + units, 4 * units>(tg::glorot_uniform);
const auto bias = tg::variable<"bias", double, 4 * units>(tg::random_uniform(-0.5, 0.5));
const auto gates = tg::variable<"gates", double, features + units, 2 * units>(tg::glorot_uniform);
const auto gates_bias = tg::variable<"gates_bias", double, 2 * units>(tg::random_uniform(-0.5, 0.5));
const auto candidate = tg::variable<"candidate", double, features + units, units>(tg::glorot_uniform);
const auto candidate_bias = tg::variable<"candidate_bias", double, units>(tg::random_uniform(-0.5, 0.5));

TEST_CASE("a step of long short-term memory is its formula, and so are its gradients and theirs") {
  const auto [next, memory] = tg::lstm_cell(x, h, c, kernel, bias);
  const auto [plain_next, plain_memory] = plain_lstm(x, h, c, kernel, bias);
  static_assert(decltype(next)::spec.dims == tg::shape{tg::dyn, units});
  for (const tg::extent batch : {1, 3}) {
    const auto a = numbers({batch, features}, 1), b = numbers({batch, units}, 2), d = numbers({batch, units}, 3);
    compare(next, plain_next, x = a, h = b, c = d);
    compare(memory, plain_memory, x = a, h = b, c = d);
  }
  const auto a = numbers({2, features}, 1), b = numbers({2, units}, 2), d = numbers({2, units}, 3);
  // What flows into both results, or one alone, for one step and for two.
  const auto check = [&](const auto& loss, const auto& plain) {
    compare(tg::gradient(loss, x), tg::gradient(plain, x), x = a, h = b, c = d);
    compare(tg::gradient(loss, c), tg::gradient(plain, c), x = a, h = b, c = d);
    compare(tg::gradient(loss, kernel), tg::gradient(plain, kernel), x = a, h = b, c = d);
    compare(tg::gradient(loss, bias), tg::gradient(plain, bias), x = a, h = b, c = d);
    const auto twice = tg::sum(tg::square(tg::gradient(loss, h))) + tg::sum(tg::square(tg::gradient(loss, kernel)));
    const auto plain_twice =
        tg::sum(tg::square(tg::gradient(plain, h))) + tg::sum(tg::square(tg::gradient(plain, kernel)));
    compare(tg::gradient(twice, x), tg::gradient(plain_twice, x), x = a, h = b, c = d);
    compare(tg::gradient(twice, c), tg::gradient(plain_twice, c), x = a, h = b, c = d);
    compare(tg::gradient(twice, bias), tg::gradient(plain_twice, bias), x = a, h = b, c = d);
  };
  check(tg::sum(tg::square(next)), tg::sum(tg::square(plain_next)));
  check(tg::sum(tg::square(memory)), tg::sum(tg::square(plain_memory)));
  const auto [last, end] = tg::lstm_cell(x, next, memory, kernel, bias);
  const auto [plain_last, plain_end] = plain_lstm(x, plain_next, plain_memory, kernel, bias);
  check(tg::sum(tg::exp(last)) + tg::sum(end * memory),
        tg::sum(tg::exp(plain_last)) + tg::sum(plain_end * plain_memory));
}

TEST_CASE("a step of a gated recurrent unit is its formula, and so are its gradients and theirs") {
  const auto next = tg::gru_cell(x, h, gates, gates_bias, candidate, candidate_bias);
  const auto plain_next = plain_gru(x, h, gates, gates_bias, candidate, candidate_bias);
  static_assert(decltype(next)::spec.dims == tg::shape{tg::dyn, units});
  const auto a = numbers({2, features}, 1), b = numbers({2, units}, 2);
  compare(next, plain_next, x = a, h = b);
  const auto check = [&](const auto& loss, const auto& plain) {
    compare(tg::gradient(loss, x), tg::gradient(plain, x), x = a, h = b);
    compare(tg::gradient(loss, h), tg::gradient(plain, h), x = a, h = b);
    compare(tg::gradient(loss, gates), tg::gradient(plain, gates), x = a, h = b);
    compare(tg::gradient(loss, candidate_bias), tg::gradient(plain, candidate_bias), x = a, h = b);
    const auto twice = tg::sum(tg::square(tg::gradient(loss, h))) + tg::sum(tg::square(tg::gradient(loss, gates)));
    const auto plain_twice =
        tg::sum(tg::square(tg::gradient(plain, h))) + tg::sum(tg::square(tg::gradient(plain, gates)));
    compare(tg::gradient(twice, x), tg::gradient(plain_twice, x), x = a, h = b);
    compare(tg::gradient(twice, gates_bias), tg::gradient(plain_twice, gates_bias), x = a, h = b);
    compare(tg::gradient(twice, candidate), tg::gradient(plain_twice, candidate), x = a, h = b);
  };
  check(tg::sum(tg::square(next)), tg::sum(tg::square(plain_next)));
  const auto last = tg::gru_cell(x, next, gates, gates_bias, candidate, candidate_bias);
  const auto plain_last = plain_gru(x, plain_next, gates, gates_bias, candidate, candidate_bias);
  check(tg::sum(tg::exp(last)), tg::sum(tg::exp(plain_last)));
}

TEST_CASE("steps of layers that share their parameters with an unrolled layer") {
  constexpr auto sequence = tg::placeholder<"sequence", float, tg::dyn, 2, features>();
  const auto unrolled = tg::lstm<"l", units>(sequence, tg::last_output | tg::unrolled);
  const auto own_kernel = tg::variable<"l/kernel", float, features + units, 4 * units>(tg::glorot_uniform);
  const auto own_bias = tg::variable<"l/bias", float, 4 * units>(tg::zeros);
  const auto [one, two] = tg::split<1, 2>(sequence);
  constexpr auto zero = tg::placeholder<"zero", float, tg::dyn, units>();
  const auto [h1, c1] = tg::lstm_cell(tg::squeeze<1>(one), zero, zero, own_kernel, own_bias);
  const auto h2 = std::get<0>(tg::lstm_cell(tg::squeeze<1>(two), h1, c1, own_kernel, own_bias));
  const auto program = tg::compile([=] { return tg::outputs(unrolled, h2); });
  tg::session session(program, {.seed = 1});
  CHECK(session.core().variables().size() == 2);
  tg::tensor<float> in({4, 2, features});
  for (std::size_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<float>(i) / 8 - 1;
  const auto [a, b] = session.run(tg::fetch(unrolled, h2), sequence = in, zero = tg::tensor<float>({4, units}));
  CHECK(a == b);
}

}  // namespace
