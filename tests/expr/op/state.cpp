// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/state.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto v = tg::placeholder<"v", float, tg::dyn>();
constexpr auto w = tg::variable<"w", float, 3>(tg::ones);
constexpr auto count = tg::variable<"count", std::int64_t>(tg::zeros);
static_assert(tg::diagnose::is_variable<decltype(w)> && !tg::diagnose::is_variable<decltype(v)>);
static_assert(tg::diagnose::fits_variable<tg::spec<float, 3>, tg::spec<float, tg::dyn>>);
static_assert(!tg::diagnose::fits_variable<tg::spec<float, 3>, tg::spec<float, 4>>);
static_assert(!tg::diagnose::fits_variable<tg::spec<float, 3>, tg::spec<float, 1>>);

TEST_CASE("variables are written and counted") {
  const auto set = tg::assign(w, v);
  const auto step = tg::assign_add(count, 1);
  const auto back = tg::assign_sub(count, 10);
  const auto fixed = tg::assign(count, 100);
  tg::session session(tg::compile([=] { return tg::outputs(set, step, back, fixed, w, count); }));
  CHECK(session.run(set, v = tg::tensor<float>(tg::shape{3}, {4, 5, 6}))[2] == 6);
  CHECK(session.run(w)[0] == 4);
  CHECK(session.run(step) == 1);
  CHECK(session.run(step) == 2);
  CHECK(session.run(back) == -8);
  CHECK(session.run(fixed) == 100);
  CHECK(session.run(count) == 100);
  CHECK_THROWS_WITH(session.run(set, v = tg::tensor<float>(tg::shape{4})),
                    Catch::Contains("the value has another shape than the variable") &&
                        Catch::Contains("float32 [3] and float32 [4]"));
  CHECK(session.run(w)[2] == 6);
}

TEST_CASE("a variable assigned to itself, to another, and through a view") {
  const auto u = tg::variable<"u", float, 3>(tg::zeros);
  const auto keep = tg::assign(w, w);
  const auto copy = tg::assign(u, w * 2.0f);
  const auto twice = tg::assign_add(w, tg::reshape<3>(tg::expand_dims<0>(w)));
  tg::session session(tg::compile([=] { return tg::outputs(keep, copy, twice, u); }));
  CHECK(session.run(keep)[1] == 1);
  CHECK(session.run(copy)[1] == 2);
  CHECK(session.run(twice)[1] == 2);
  CHECK(session.run(u)[1] == 2);
}

TEST_CASE("initialize gives a variable the bytes that it began with") {
  const auto drawn = tg::variable<"drawn", float, 5, 4>(tg::glorot_uniform);
  const auto given = tg::variable<"given", double, 2>(tg::tensor<double>({2}, {3, 4}));
  const auto number = tg::variable<"number", int>(7);
  const auto change =
      tg::group(tg::assign_add(drawn, drawn), tg::assign(given, given * 2.0), tg::assign_add(number, 1));
  const auto one = tg::initialize(drawn);
  const auto all = tg::group(tg::initialize(drawn), tg::initialize(given), tg::initialize(number));
  const auto behind = tg::after(one)(tg::identity(drawn));
  const auto program = tg::compile([=] { return tg::outputs(drawn, given, number, change, one, all, behind); });
  tg::session session(program, {.seed = 7});
  const auto begin = session.run(drawn);
  const auto same = [&begin](const tg::tensor<float>& other) {
    return std::equal(begin.span().begin(), begin.span().end(), other.span().begin());
  };
  session.run(change);
  REQUIRE_FALSE(same(session.run(drawn)));
  CHECK(same(session.run(one)));
  CHECK(same(session.run(drawn)));
  CHECK(session.run(given)[1] == 8);  // the others were left alone
  session.run(change);
  CHECK(same(session.run(behind)));
  session.run(change);
  session.run(all);
  CHECK(same(session.run(drawn)));
  CHECK(session.run(given)[1] == 4);
  CHECK(session.run(number) == 7);

  tg::session bare(program, {.seed = 7, .initialize = false});
  CHECK_THROWS_AS(bare.run(drawn), tg::error);
  CHECK(same(bare.run(behind)));  // read behind its first value
  CHECK(same(bare.run(drawn)));
  CHECK_THROWS_AS(bare.run(change), tg::error);  // the others have no value yet
  CHECK_NOTHROW(bare.run(all));
  CHECK(bare.run(number) == 7);
}

TEST_CASE("a variable without initial value begins with what is assigned") {
  const auto set = tg::assign(w, v);
  const auto more = tg::assign_add(w, v);
  tg::session session(tg::compile([=] { return tg::outputs(w, set, more); }), {.initialize = false});
  const tg::tensor<float> three({3}, {3, 3, 3});
  CHECK_THROWS_AS(session.run(more, v = three), tg::error);
  CHECK_THROWS_AS(session.run(tg::fetch(w, set), v = three), tg::error);  // the value before
  CHECK_THROWS_AS(session.run(w), tg::error);
  CHECK(session.run(set, v = three)[0] == 3);
  CHECK(session.run(more, v = three)[0] == 6);
}

}  // namespace
