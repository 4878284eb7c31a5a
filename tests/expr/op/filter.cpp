// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/filter.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "support/errors.hpp"
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
constexpr auto m = tg::placeholder<"m", bool, tg::dyn>();
constexpr auto t = tg::placeholder<"t", float, 2, tg::dyn, 3>();
constexpr auto grid = tg::placeholder<"grid", bool, 2, tg::dyn>();

tg::tensor<float> numbers(const tg::shape& dims, float first = 1) {
  tg::tensor<float> all(dims);
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = first + static_cast<float>(i);
  return all;
}
tg::tensor<bool> mask(const tg::shape& dims, unsigned bits) {
  tg::tensor<bool> all(dims);
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = ((bits >> i) & 1) != 0;
  return all;
}

TEST_CASE("a mask along the first axis keeps rows") {
  const auto kept = tg::boolean_mask(x, m);
  static_assert(decltype(kept)::spec_type::value.dims == tg::shape{tg::dyn, 2});
  const auto program = tg::compile([=] { return tg::outputs(kept); });
  tg::session session(program);
  for (const unsigned bits : {0b101u, 0b000u, 0b111u, 0b010u}) {
    const auto got = session.run(kept, x = numbers({3, 2}), m = mask({3}, bits));
    std::vector<float> expected;
    for (unsigned i = 0; i < 3; ++i)
      if ((bits >> i) & 1) expected.insert(expected.end(), {1 + 2 * static_cast<float>(i), 2 + 2 * static_cast<float>(i)});
    CHECK(got.dims() == tg::shape{static_cast<tg::extent>(expected.size() / 2), 2});
    CHECK(std::vector<float>(got.data(), got.data() + got.size()) == expected);
  }
  CHECK(session.run(kept, x = numbers({0, 2}), m = mask({0}, 0)).dims() == tg::shape{0, 2});
  CHECK_THROWS_WITH(session.run(kept, x = numbers({3, 2}), m = mask({2}, 1)),
                    Catch::Contains("the mask needs the leading extents of what it is for") &&
                        Catch::Contains("bool [2] and float32 [3, 2]"));
}

TEST_CASE("a mask over several axes, and positions along each") {
  const auto kept = tg::boolean_mask(t, grid);
  const auto at = tg::nonzero(grid);
  static_assert(decltype(at)::spec_type::value == tg::tensor_spec{tg::dtype::int64, {tg::dyn, 2}});
  const auto program = tg::compile([=] { return tg::outputs(kept, at); });
  tg::session session(program);
  const auto [rows, places] = session.run(tg::fetch(kept, at), t = numbers({2, 3, 3}, 0), grid = mask({2, 3}, 0b011010));
  CHECK(rows.dims() == tg::shape{3, 3});
  CHECK(std::vector<float>(rows.data(), rows.data() + 9) == std::vector<float>{3, 4, 5, 9, 10, 11, 12, 13, 14});
  CHECK(places.dims() == tg::shape{3, 2});
  CHECK(std::vector<std::int64_t>(places.data(), places.data() + 6) == std::vector<std::int64_t>{0, 1, 1, 0, 1, 1});
}

TEST_CASE("numbers are not 0, NaN among them") {
  constexpr auto v = tg::placeholder<"v", float, tg::dyn>();
  const auto at = tg::nonzero(v);
  const auto program = tg::compile([=] { return tg::outputs(at); });
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads});
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto got = session.run(at, v = std::vector<float>{0, 1, -0.0f, nan, 0});
    CHECK(std::vector<std::int64_t>(got.data(), got.data() + got.size()) == std::vector<std::int64_t>{1, 3});
    std::vector<float> many(200000);
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < many.size(); ++i)
      if (i * i % 7 == 1) many[i] = 1, expected.push_back(static_cast<std::int64_t>(i));
    const auto all = session.run(at, v = many);
    CHECK(std::vector<std::int64_t>(all.data(), all.data() + all.size()) == expected);
  }
}

TEST_CASE("each element once, in the order in which they come first") {
  constexpr auto v = tg::placeholder<"v", double, tg::dyn>();
  const auto [values, at, counts] = tg::unique_with_counts(v);
  const auto two = tg::unique(v);
  const auto again = tg::gather(values, at);
  const auto alone = std::get<0>(two);
  const auto program = tg::compile([v = values, a = at, c = counts, g = again, alone] {
    return tg::outputs(v, a, c, g, alone);
  });
  tg::session session(program);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> from{3, 1, 3, 0.0, nan, -0.0, 1, nan, 7};
  const auto [u, p, c, g] = session.run(tg::fetch(values, at, counts, again), v = from);
  CHECK(u.dims() == tg::shape{6});
  CHECK(std::vector<double>(u.data(), u.data() + 3) == std::vector<double>{3, 1, 0});
  CHECK((std::isnan(u[3]) && std::isnan(u[4]) && u[5] == 7));
  CHECK(std::vector<std::int64_t>(p.data(), p.data() + 9) == std::vector<std::int64_t>{0, 1, 0, 2, 3, 2, 1, 4, 5});
  CHECK(std::vector<std::int64_t>(c.data(), c.data() + c.size()) == std::vector<std::int64_t>{2, 2, 2, 1, 1, 1});
  for (tg::extent i = 0; i < 9; ++i) CHECK((g[i] == from[static_cast<std::size_t>(i)] || std::isnan(g[i])));
  CHECK(session.run(values, v = std::vector<double>{}).dims() == tg::shape{0});
  CHECK(session.run(alone, v = std::vector<double>{2, 2}).dims() == tg::shape{1});
}

TEST_CASE("a loss behind a mask trains, and its gradient goes back to the rows that were kept") {
  const auto w = tg::variable<"w", float, 2, 1>(tg::ones);
  const auto guess = tg::matmul(tg::boolean_mask(x, m), w);
  const auto loss = tg::mean(tg::square(guess));
  const auto by_x = tg::gradient(loss, x);
  const auto by_w = tg::gradient(loss, w);
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.001});
  const auto program = tg::compile([=] { return tg::outputs(loss, by_x, by_w, train, w); });
  tg::session session(program);
  for (const unsigned bits : {0b1101u, 0b0110u, 0b1111u}) {
    const auto at = numbers({4, 2}, -2);
    const auto chosen = mask({4}, bits);
    const auto gx = session.run(by_x, x = at, m = chosen);
    const auto gw = session.run(by_w, x = at, m = chosen);
    CHECK(gx.dims() == tg::shape{4, 2});
    constexpr float h = 1e-2f;
    for (tg::extent i = 0; i < 8; ++i) {
      auto up = at, down = at;
      up.data()[i] += h, down.data()[i] -= h;
      const float slope = (session.run(loss, x = up, m = chosen) - session.run(loss, x = down, m = chosen)) / (2 * h);
      CHECK(gx.data()[i] == Approx(slope).margin(1e-2));
      if (((bits >> (i / 2)) & 1) == 0) CHECK(gx.data()[i] == 0);
    }
    CHECK(gw.dims() == tg::shape{2, 1});
    float before = session.run(loss, x = at, m = chosen);
    for (int step = 0; step < 5; ++step) {
      session.run(train, x = at, m = chosen);
      const float now = session.run(loss, x = at, m = chosen);
      CHECK(now < before);
      before = now;
    }
  }
}

TEST_CASE("rows of a table that a mask names are updated alone") {
  const auto table = tg::variable<"table", float, 4, 2>(tg::ones);
  const auto loss = tg::sum(tg::boolean_mask(table, m));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 1});
  const auto at = std::get<0>(tg::unique(tg::placeholder<"ids", std::int32_t, tg::dyn>()));
  const auto added = tg::scatter_add(table, at, tg::gather(table, at));
  const auto program = tg::compile([=] { return tg::outputs(train, table, added); });
  tg::session session(program);
  session.run(train, m = mask({4}, 0b0110));
  const auto now = session.run(table);
  CHECK(std::vector<float>(now.data(), now.data() + 8) == std::vector<float>{1, 1, 0, 0, 0, 0, 1, 1});
  constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();
  session.run(added, ids = std::vector<std::int32_t>{3, 3, 0, 3});
  const auto then = session.run(table);
  CHECK(std::vector<float>(then.data(), then.data() + 8) == std::vector<float>{2, 2, 0, 0, 0, 0, 2, 2});
}

}  // namespace
