// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/own_optimizer.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

/// Adam by its formula.
struct own_adam {
  tg::rate learning_rate = 0.001;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

  static constexpr tg::fixed_string name = "own_adam";
  static constexpr tg::optimizer_slots<2> slots{tg::optimizer_slot{"/own_m"}, tg::optimizer_slot{"/own_v"}};
  [[nodiscard]] tg::optimizer_numbers<3> numbers() const { return {beta1, beta2, epsilon}; }
  static constexpr void update(auto& u) {
    const auto b1 = u.number(0);
    const auto b2 = u.number(1);
    const auto g = u.gradient();
    // Set first: the formula reads what was before.
    u.set_slot(0, u.slot(0) + (g - u.slot(0)) * (1 - b1));
    u.set_slot(1, u.slot(1) + (square(g) - u.slot(1)) * (1 - b2));
    const auto m = u.slot(0) + (g - u.slot(0)) * (1 - b1);
    const auto v = u.slot(1) + (square(g) - u.slot(1)) * (1 - b2);
    const auto rate = u.learning_rate() * sqrt(1 - pow(b2, u.step())) / (1 - pow(b1, u.step()));
    u.set_value(u.value() - rate * m / (sqrt(v) + u.number(2)));
  }
};

/// Its numbers in an array of the standard library.
struct scaled {
  tg::rate learning_rate = 0.5;

  static constexpr tg::fixed_string name = "scaled";
  static constexpr std::array<tg::optimizer_slot, 0> slots{};
  [[nodiscard]] static std::array<double, 2> numbers() { return {3, 7}; }
  static constexpr void update(auto& u) {
    u.set_value(u.value() - u.learning_rate() * u.number(0) * u.number(1) * u.gradient());
  }
};

/// Normalised by the norms of value and gradient, You et al. 2017; no slots, and no numbers.
struct lars {
  tg::rate learning_rate = 0.1;

  static constexpr tg::fixed_string name = "lars";
  static constexpr tg::optimizer_slots<0> slots{};
  [[nodiscard]] static tg::optimizer_numbers<0> numbers() { return {}; }
  static constexpr void update(auto& u) {
    const auto w = sqrt(sum(square(u.value())));
    const auto g = sqrt(sum(square(u.gradient())));
    const auto trust = select(w > 0 * w, w / (g + 1e-9), 1 + 0 * w);
    u.set_value(u.value() - u.learning_rate() * trust * u.gradient());
  }
};

/// Everything that terms have: the value becomes what a test computes by hand.
struct of_everything {
  tg::rate learning_rate = 0.5;

  static constexpr tg::fixed_string name = "everything";
  static constexpr tg::optimizer_slots<1> slots{tg::optimizer_slot{"/count", 2}};
  [[nodiscard]] static tg::optimizer_numbers<1> numbers() { return {3}; }
  static constexpr void update(auto& u) {
    const auto x = u.value();
    const auto y =
        abs(-x) + sign(x) + exp(log(maximum(abs(x), minimum(x, x)) + 1.0)) + tanh(x) + rsqrt(square(x) + 1.0);
    u.set_value(select(u.step() < 1.5 + 0 * x, y, 2.0 - x) * u.number(0));
    u.set_slot(0, u.step() + u.learning_rate());  // one number for all elements
  }
};

/// Value and slots change places.
struct exchange {
  tg::rate learning_rate = 1;

  static constexpr tg::fixed_string name = "exchange";
  static constexpr tg::optimizer_slots<2> slots{tg::optimizer_slot{"/first", 10}, tg::optimizer_slot{"/second", 20}};
  [[nodiscard]] static tg::optimizer_numbers<0> numbers() { return {}; }
  static constexpr void update(auto& u) {
    u.set_value(u.slot(0));
    u.set_slot(0, u.slot(1));
    u.set_slot(1, u.value());
  }
};

/// Momentum by its formula.
struct own_momentum {
  tg::rate learning_rate = 0.1;

  static constexpr tg::fixed_string name = "own_momentum";
  static constexpr tg::optimizer_slots<1> slots{tg::optimizer_slot{"/velocity"}};
  [[nodiscard]] static tg::optimizer_numbers<0> numbers() { return {}; }
  static constexpr void update(auto& u) {
    const auto v = 0.9 * u.slot(0) + u.gradient();
    u.set_slot(0, v);
    u.set_value(u.value() - u.learning_rate() * v);
  }
};

template <class T>
tg::tensor<T> batch(std::mt19937& random) {
  tg::tensor<T> t(tg::shape{7, 5});
  for (tg::extent i = 0; i < 35; ++i) t[i] = static_cast<T>(static_cast<float>(random() % 200) / 100.0f - 1.0f);
  return t;
}

/// The weights of a model after steps of the library's Adam, and of the one above, lie this far apart at most.
template <class T>
double distance(int steps) {
  constexpr auto x = tg::placeholder<"x", T, tg::dyn, 5>();
  const auto w = tg::variable<"w", T, 5, 3>(tg::glorot_uniform);
  const auto v = tg::variable<"v", T, 5, 3>(tg::glorot_uniform);
  const auto one = tg::variable<"one", T>(tg::zeros);
  const auto two = tg::variable<"two", T>(tg::zeros);
  const auto loss_of = [&](const auto& kernel, const auto& bias) {
    return tg::mean(tg::square(tg::matmul(x, kernel) + bias - tg::cast<T>(tg::constant<"goal", float>(0.5f))));
  };
  const auto start = tg::assign(v, w);
  const auto a = tg::minimize(loss_of(w, one), tg::adam{.learning_rate = 0.02}, w, one);
  const auto b = tg::minimize(loss_of(v, two), own_adam{.learning_rate = 0.02}, v, two);
  tg::session session(tg::compile([=] { return tg::outputs(start, a, b, w, v, one, two); }), {.seed = 8});
  session.run(start);
  std::mt19937 random(5);
  for (int i = 0; i < steps; ++i) {
    const auto in = batch<T>(random);
    session.run(a, x = in);
    session.run(b, x = in);
  }
  const auto [p, q, r, s] = session.run(tg::fetch(w, v, one, two));
  double far = std::abs(static_cast<double>(r) - static_cast<double>(s));
  for (tg::extent i = 0; i < 15; ++i)
    far = std::max(far, std::abs(static_cast<double>(p[i]) - static_cast<double>(q[i])));
  return far;
}

}  // namespace

TEST_CASE("an optimizer by its formula trains as the library's own", "[own_optimizer]") {
  CHECK(distance<double>(40) < 1e-13);
  CHECK(distance<float>(40) < 1e-5);
  CHECK(distance<tg::float16>(10) < 5e-3);
  CHECK(distance<tg::bfloat16>(10) < 4e-2);
}

TEST_CASE("a formula without slots and numbers, with norms", "[own_optimizer]") {
  const auto w = tg::variable<"w", double, 2>(tg::tensor<double>(tg::shape{2}, {3, 4}));
  const auto zero = tg::variable<"zero", double, 2>(tg::zeros);
  const auto loss = tg::sum(w * 2.0) + tg::sum(zero);
  const auto train = tg::minimize(loss, lars{});
  const auto count = tg::variable<"lars/step", std::int64_t>(tg::zeros, tg::not_trainable);
  tg::session session(tg::compile([=] { return tg::outputs(train, w, zero, count); }));
  session.run(train);
  const auto [got, started, steps] = session.run(tg::fetch(w, zero, count));
  const double trust = 5 / std::sqrt(8.0);
  CHECK(got[0] == Approx(3 - 0.1 * trust * 2));
  CHECK(got[1] == Approx(4 - 0.1 * trust * 2));
  CHECK(started[0] == Approx(-0.1));
  CHECK(steps == 1);
}

TEST_CASE("numbers and slots of a formula may be arrays of the standard library", "[own_optimizer]") {
  const auto w = tg::variable<"w", double, 2>(tg::ones);
  const auto train = tg::minimize(tg::sum(w * 2.0), scaled{});
  tg::session session(tg::compile([=] { return tg::outputs(train, w); }));
  session.run(train);
  CHECK(session.run(w)[1] == Approx(1 - 0.5 * 21 * 2));
}

TEST_CASE("terms are computed as expressions are", "[own_optimizer]") {
  const auto w = tg::variable<"w", float, 2>(tg::tensor<float>(tg::shape{2}, {0.5f, -2.0f}));
  const auto slot = tg::variable<"copy", float, 2>(tg::zeros, tg::not_trainable);
  const auto train = tg::minimize(tg::sum(w), of_everything{});
  tg::session session(tg::compile([=] { return tg::outputs(train, w, slot); }));
  session.run(train);
  const auto value = [](double x) {
    return 3 * (std::abs(x) + (x > 0 ? 1 : -1) + std::abs(x) + 1 + std::tanh(x) + 1 / std::sqrt(x * x + 1));
  };
  const auto first = session.run(w);
  CHECK(first[0] == Approx(value(0.5)).epsilon(1e-6));
  CHECK(first[1] == Approx(value(-2)).epsilon(1e-6));
  session.run(train);
  CHECK(session.run(w)[0] == Approx(3 * (2 - first[0])).epsilon(1e-6));  // the second step
}

TEST_CASE("rows that are looked up are updated by a formula, the others as by a gradient of zero", "[own_optimizer]") {
  const auto index = tg::placeholder<"index", std::int32_t, tg::dyn>();
  const auto table = tg::variable<"table", double, 4, 2>(tg::ones);
  const auto other = tg::variable<"other", double, 4, 2>(tg::ones);
  const auto a = tg::minimize(tg::sum(tg::square(tg::gather(table, index))), tg::adam{.learning_rate = 0.1}, table);
  const auto b = tg::minimize(tg::sum(tg::square(tg::gather(other, index))), own_adam{.learning_rate = 0.1}, other);
  tg::session session(tg::compile([=] { return tg::outputs(a, b, table, other); }));
  for (int i = 0; i < 5; ++i) {
    const tg::tensor<std::int32_t> rows(tg::shape{3}, {i % 4, 1, 1});
    session.run(a, index = rows);
    session.run(b, index = rows);
  }
  const auto [p, q] = session.run(tg::fetch(table, other));
  for (tg::extent i = 0; i < 8; ++i) CHECK(p[i] == Approx(q[i]).epsilon(1e-12));
}

TEST_CASE("a formula reads the values before, also where they change places", "[own_optimizer]") {
  const auto w = tg::variable<"w", float, 3>(tg::ones);
  const auto train = tg::minimize(tg::sum(w), exchange{});
  tg::session session(tg::compile([=] { return tg::outputs(train, w); }));
  for (const float expected : {10.0f, 20.0f, 1.0f, 10.0f}) {
    session.run(train);
    CHECK(session.run(w)[2] == expected);
  }
}

TEST_CASE("what a formula reads waits for what its optimizer waits for", "[own_optimizer]") {
  const auto in = tg::placeholder<"in", double, 2>();
  const auto of = [&](const auto& w, const auto& optimizer) {
    const auto first = tg::minimize(tg::sum(tg::square(w - in)), optimizer, w);
    return tg::after(first)(tg::minimize(tg::sum(w * in), optimizer, w));
  };
  const auto w = tg::variable<"w", double, 2>(tg::ones);
  const auto v = tg::variable<"v", double, 2>(tg::ones);
  const auto library = of(w, tg::momentum{.learning_rate = 0.1, .momentum = 0.9});
  const auto own = of(v, own_momentum{});
  const auto e = tg::variable<"e", double, 2>(tg::ones);
  const auto places = tg::after(tg::assign(e, in))(tg::minimize(tg::sum(e), exchange{}, e));
  tg::session session(tg::compile([=] { return tg::outputs(library, own, places, w, v, e); }));
  for (int i = 0; i < 4; ++i) {
    const tg::tensor<double> x(tg::shape{2}, {0.5 + i, -1.0 * i});
    session.run(tg::fetch(library, own, places), in = x);
    const auto [a, b, c] = session.run(tg::fetch(w, v, e));
    CHECK(a[0] == Approx(b[0]).epsilon(1e-12));
    CHECK(a[1] == Approx(b[1]).epsilon(1e-12));
    CHECK(c[0] == std::vector<double>{10, 20, 0.5, 1.5}[static_cast<std::size_t>(i)]);
  }
}
