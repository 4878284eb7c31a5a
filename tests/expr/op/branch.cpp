// SPDX-License-Identifier: BSL-1.0
#include "tagma/control_flow.hpp"

#include <chrono>

#include "conformance/branches.hpp"
#include "support/errors.hpp"
#include "tagma/explain.hpp"

namespace {

TEST_CASE("random functions with branches and loops in each other are what both branches and a choice are") {
  check_random_function<1>();
  check_random_function<2>();
  check_random_function<3>();
  check_random_function<4>();
  check_random_function<5>();
  check_random_function<6>();
}

TEST_CASE("what only one branch reads is computed in it, what others read in front") {
  const auto own = tg::exp(tg::sin(x));
  const auto common = tg::tanh(x);
  const auto y = tg::cond(
      decides, [&] { return own * common; }, [&] { return common + 1.0; });
  const auto program = tg::compile([=] { return tg::outputs(y); });
  const std::string text = tg::explain(program, 4);
  // tanh, the opposite; exp(sin) * tanh; a copy of that, tanh + 1.
  CHECK_THAT(text, Catch::Contains("\nsteps: 5,"));
  CHECK_THAT(text, Catch::Contains(": step 2, if #0\n"));
  tg::session s(program);
  const values v = numbers({4}, 2);
  check_each(s.run(y, x = v, decides = true), v, [](double e) { return std::exp(std::sin(e)) * std::tanh(e); });
  check_each(s.run(y, x = v, decides = false), v, [](double e) { return std::tanh(e) + 1; });
}

TEST_CASE("an operation with several results is done in the branch that alone reads them") {
  const auto deep = tg::exp(tg::sin(x));
  const auto parts = tg::moments(deep);
  const auto mean = std::get<0>(parts);
  const auto variance = std::get<1>(parts);
  const auto y = tg::cond(
      decides, [&] { return (deep - mean) / variance; }, [&] { return x + 1.0; });
  const auto z = tg::cond(
      decides, [&] { return x * variance; }, [&] { return x + 1.0; });
  const auto within = tg::compile([=] { return tg::outputs(y); });
  const auto beside = tg::compile([=] { return tg::outputs(z, mean); });
  // exp(sin), moments, and the rest of the branch; the opposite and the other branch are behind them.
  CHECK_THAT(tg::explain(within, 4), Catch::Contains(": steps 1 to 3, if #"));
  // exp(sin) and moments are in front.
  CHECK_THAT(tg::explain(beside, 4), Catch::Contains(": step 3, if #"));
  tg::session s(within);
  tg::session t(beside);
  const values v = numbers({5}, 3);
  double sum = 0, squares = 0;
  for (const double e : v) sum += std::exp(std::sin(e));
  for (const double e : v) squares += std::pow(std::exp(std::sin(e)) - sum / 5, 2);
  check_each(s.run(y, x = v, decides = true), v,
             [&](double e) { return (std::exp(std::sin(e)) - sum / 5) / (squares / 5); });
  check_each(s.run(y, x = v, decides = false), v, [](double e) { return e + 1; });
  for (const bool first : {true, false}) {
    const auto [values_of_z, m] = t.run(tg::fetch(z, mean), x = v, decides = first);
    check_each(values_of_z, v, [&](double e) { return first ? e * squares / 5 : e + 1; });
    CHECK(m == Approx(sum / 5));
  }
}

TEST_CASE("explain tells what decides") {
  const auto [end] = tg::while_loop<7>(
      tg::carry(x), [](auto e) { return tg::sum(e) < 3.0; }, [](auto e) { return tg::next(e + 1.0); });
  const auto last = end;
  const auto by_x = tg::gradient(tg::sum(last * last), x);
  const auto program = tg::compile([=] { return tg::outputs(last, by_x); });
  const std::string text = tg::explain(program, 4);
  CHECK_THAT(text, Catch::Contains("\nwhile #") && Catch::Contains(", as long as #"));
  CHECK_THAT(text, Catch::Contains(", as often as #") && Catch::Contains(", at most 7 times, from the last\n"));
}

TEST_CASE("a loop that does not end is ended by a deadline, and by a token") {
  const auto [n] = tg::while_loop(
      tg::carry(tg::cast<std::int64_t>(w)), [](auto k) { return k >= 0; }, [](auto k) { return tg::next(k * 0); });
  const auto count = n;
  const auto program = tg::compile([=] { return tg::outputs(count); });
  tg::session s(program);
  CHECK(tg::test::code_of([&] {
          static_cast<void>(s.run(count, tg::timeout(std::chrono::milliseconds(20)), w = 1.0));
        }) == tg::status_code::deadline_exceeded);
  tg::cancellation token;
  token.cancel();
  CHECK(tg::test::code_of([&] { static_cast<void>(s.run(count, tg::stop_with(token), w = 1.0)); }) ==
        tg::status_code::cancelled);
  CHECK(s.run(count, w = -1.0) == -1);
}

constexpr auto table = tg::placeholder<"table", double, tg::dyn>();

TEST_CASE("errors name the iteration, and the branch") {
  const auto [n] = tg::while_loop(
      tg::carry(tg::cast<std::int64_t>(w)), [](auto k) { return k < 100; },
      [](auto k) { return tg::next(k + tg::cast<std::int64_t>(tg::gather<0>(table, k))); });
  const auto count = n;
  const auto taken = tg::cond(
      decides, [](auto k) { return tg::gather<0>(table, k); }, [](auto) { return w; }, tg::cast<std::int64_t>(w));
  const auto program = tg::compile([=] { return tg::outputs(count, taken); });
  tg::session s(program);
  values t({3});
  t[0] = t[1] = t[2] = 1;
  CHECK_THROWS_WITH(s.run(count, w = 1.0, table = t),
                    Catch::Contains("gather") && Catch::Contains("(in iteration 2 of loop #"));
  CHECK_THROWS_WITH(s.run(taken, w = 5.0, table = t, decides = true),
                    Catch::Contains("gather") && Catch::Contains("(in branch #"));
  CHECK(s.run(taken, w = 5.0, table = t, decides = false) == 5.0);
}

TEST_CASE("results of branches and loops may be fed, and carried values keep their shape") {
  const auto y = tg::cond(
      decides, [](auto e) { return e * 2.0; }, [](auto e) { return e + 1.0; }, x);
  const auto sum = tg::sum(y);
  const auto [grown] = tg::while_loop(
      tg::carry(x), [](auto e) { return tg::sum(e) < 1.0; },
      [](auto e) { return tg::next(tg::slice<tg::range{1}>(e)); });
  const auto end = grown;
  const auto program = tg::compile([=] { return tg::outputs(sum, y, end); });
  tg::session s(program);
  CHECK(s.run(sum, y = numbers({0}, 1)) == 0);
  values v({2});
  v[0] = v[1] = 0;
  CHECK_THROWS_WITH(s.run(end, x = v), Catch::Contains("what is carried has shape [2], its next value"));
}

TEST_CASE("a branch draws random numbers of its own, the same for the same seed") {
  const auto y = tg::cond(
      decides, [](auto e) { return tg::dropout(e, 0.5); }, [](auto e) { return e; }, x);
  const auto program = tg::compile([=] { return tg::outputs(y); });
  tg::session one(program, {.seed = 3}), two(program, {.seed = 3});
  values ones({64});
  for (double& e : ones.span()) e = 1;
  const values a = one.run(y, x = ones, decides = true), c = two.run(y, x = ones, decides = true),
               again = one.run(y, x = ones, decides = true), whole = two.run(y, x = ones, decides = false);
  int differ = 0, kept = 0;
  for (int i = 0; i < 64; ++i) {
    CHECK(a[i] == c[i]);
    CHECK(whole[i] == 1);
    differ += a[i] != again[i];
    kept += a[i] != 0;
  }
  CHECK(differ > 0);
  CHECK((kept > 10 && kept < 54));
}

}  // namespace
