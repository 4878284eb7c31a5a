// SPDX-License-Identifier: BSL-1.0
// Programs whose variables have scopes of names, in sessions.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tagma/control_flow.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();
constexpr auto model = [](const auto& in) { return tg::dense<"out", 2>(tg::dense<"hidden", 5>(in, tg::tanh)); };

template <class Session>
std::vector<std::string> names_of(Session& session) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i != session.core().variables().size(); ++i)
    names.emplace_back(session.core().variable(i).name());
  return names;
}

tg::tensor<float> ramp(tg::shape dims, float first) {
  tg::tensor<float> t(dims);
  for (float& e : t.span()) e = first, first += 0.25f;
  return t;
}

}  // namespace

TEST_CASE("two trials of one model train in one program as each would alone") {
  const auto loss = [](const auto& guess) { return tg::mean(tg::square(guess - y)); };
  const auto first = loss(tg::scope<"first">(model)(x));
  const auto second = loss(tg::scope<"second">(model)(x));
  const auto train_first = tg::scope<"at_first">(tg::minimize(first, tg::momentum{.learning_rate = 0.05}));
  const auto train_second = tg::minimize(second, tg::adam{.learning_rate = 0.05});
  tg::session both(tg::compile([=] {
                     return tg::outputs(first, second, tg::minimize(first, tg::momentum{.learning_rate = 0.05}),
                                        train_second);
                   }),
                   {.seed = 3});
  CHECK(names_of(both)[0] == "first/hidden/kernel");
  CHECK(names_of(both)[4] == "second/hidden/kernel");

  tg::session alone(tg::compile([=] { return tg::outputs(second, train_second); }), {.seed = 3});
  const auto images = ramp({4, 3}, -1.0f);
  const auto labels = ramp({4, 2}, 0.5f);
  for (int step = 0; step < 5; ++step) {
    both.run(train_second, x = images, y = labels);
    alone.run(train_second, x = images, y = labels);
  }
  CHECK(both.run(second, x = images, y = labels) == alone.run(second, x = images, y = labels));

  // A scope around an update reaches the loss behind it: all of its names have the prefix.
  tg::session around(tg::compile([=] { return tg::outputs(train_first); }));
  for (const std::string& name : names_of(around)) CHECK(name.rfind("at_first/", 0) == 0);
}

TEST_CASE("a scope around a whole program leaves its handles as they are") {
  const auto guess = model(x);
  const auto loss = tg::mean(tg::square(guess - y));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  tg::session session(tg::compile([=] { return tg::scope<"all">(tg::outputs(guess, loss, train)); }));
  CHECK(names_of(session) == std::vector<std::string>{"all/hidden/kernel", "all/hidden/bias", "all/out/kernel",
                                                      "all/out/bias", "all/sgd/step"});
  const auto images = ramp({2, 3}, -1.0f);
  const auto labels = ramp({2, 2}, 0.5f);
  session.run(train, x = images, y = labels);
  // A tensor inside is fed by its handle.
  CHECK(session.run(loss, guess = labels, y = labels) == 0.0f);
}

TEST_CASE("sessions over one container share what scopes give one name") {
  tg::container state;
  const auto guess = model(x);
  tg::session plain(tg::compile([=] { return tg::outputs(guess); }), {.seed = 1, .state = state});
  tg::session inside(tg::compile([=] { return tg::outputs(tg::scope<"trial">(model)(x)); }),
                     {.seed = 1, .state = state});
  tg::session prefixed(tg::compile([=] { return tg::outputs(guess); }),
                       {.seed = 1, .state = state, .variable_prefix = "trial"});
  CHECK(names_of(inside) == names_of(prefixed));
  CHECK(names_of(plain) != names_of(prefixed));
  inside.run(tg::scope<"trial">(model)(x), x = ramp({1, 3}, 0));
}

TEST_CASE("loops with variables inside are two under two names") {
  const auto rows = tg::placeholder<"rows", float, 4, 2>();
  const auto cell = [](const auto& in) {
    const auto w = tg::variable<"w", float, 2>(tg::random_uniform(-1.0, 1.0));
    const auto start = tg::variable<"start", float, 2>(tg::ones);
    return std::get<0>(tg::scan(tg::carry(start), tg::over<0>(in),
                                [=](const auto& sum, const auto& row) { return tg::next(sum * w + row); }));
  };
  const auto a = tg::scope<"a">(cell)(rows);
  const auto b = tg::scope<"b">(cell)(rows);
  const auto wa = tg::scope<"a">(tg::variable<"w", float, 2>(tg::random_uniform(-1.0, 1.0)));
  const auto wb = tg::scope<"b">(tg::variable<"w", float, 2>(tg::random_uniform(-1.0, 1.0)));
  const auto slope = tg::gradient(tg::sum(a) + tg::sum(b), tg::scope<"b">(tg::variable<"start", float, 2>(tg::ones)));
  tg::session session(tg::compile([=] { return tg::outputs(a, b, wa, wb, slope); }), {.seed = 5});
  CHECK(names_of(session).size() == 4);
  const auto in = ramp({4, 2}, -0.5f);
  const auto expected = [&](const tg::tensor<float>& w, int column) {
    float sum = 1;
    for (int i = 0; i < 4; ++i) sum = sum * w.span()[column] + in.span()[2 * i + column];
    return sum;
  };
  const auto got_a = session.run(a, rows = in), got_b = session.run(b, rows = in);
  const auto in_a = session.run(wa), in_b = session.run(wb);
  const auto back = session.run(slope, rows = in);
  for (int column = 0; column < 2; ++column) {
    const auto c = static_cast<std::size_t>(column);
    CHECK(in_a.span()[c] != in_b.span()[c]);
    CHECK(got_a.span()[c] == Approx(expected(in_a, column)));
    CHECK(got_b.span()[c] == Approx(expected(in_b, column)));
    CHECK(back.span()[c] == Approx(std::pow(in_b.span()[c], 4.0f)));
  }
}

namespace {

template <std::size_t I>
constexpr char digits[5] = {'v', static_cast<char>('0' + I / 100), static_cast<char>('0' + I / 10 % 10),
                            static_cast<char>('0' + I % 10), 0};
template <std::size_t... I>
constexpr auto sum_of_variables(std::index_sequence<I...>) {
  return (... + tg::variable<tg::fixed_string<5>(digits<I>), float>(tg::ones));
}

}  // namespace

TEST_CASE("a scope has many names within the limits of the compilers") {
  constexpr std::size_t count = 240;
  constexpr auto sum = sum_of_variables(std::make_index_sequence<count>{});
  const auto inside = tg::scope<"outer">(tg::scope<"inner">(sum));
  tg::session session(tg::compile([=] { return tg::outputs(inside); }));
  const std::vector<std::string> names = names_of(session);
  REQUIRE(names.size() == count);
  for (const std::string& name : names) CHECK(name.rfind("outer/inner/v", 0) == 0);
  CHECK(session.run(inside) == static_cast<float>(count));
}
