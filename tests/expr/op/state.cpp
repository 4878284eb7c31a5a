// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/state.hpp"

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
                    Catch::Contains("the value has another shape than the variable") && Catch::Contains("float32 [3] and float32 [4]"));
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

}  // namespace
