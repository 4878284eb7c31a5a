// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/build.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using test::build, test::count_of, test::view_of;

constexpr auto zeros = static_initializer<initializer_kind::zeros>{};
constexpr auto x = placeholder<"x", float, 3>();
constexpr auto w = variable<"w", float, 3>(zeros);

/// A node used twice is in the graph once, and so are two that were written apart.
constexpr int shared_nodes() {
  const auto twice = (x * w) * (x * w) + tagma::exp(x) * tagma::exp(x);
  const auto built = build(twice, tagma::exp(x));
  return built.nodes;  // x w x*w square exp square sum
}
static_assert(shared_nodes() == 7);

/// The doubling chain has as many nodes as levels, not as many as paths.
constexpr int doubled() {
  const auto twice = [](const auto& e) { return e + e; };
  return build(twice(twice(twice(twice(twice(twice(x + w))))))).nodes;
}
static_assert(doubled() == 9);

constexpr bool inputs_come_first() {
  const auto built = build(gradient(sum(tagma::exp(x * w)), w), after(assign(w, x))(x + w));
  const auto g = view_of(built);
  for (int i = 0; i < g.size(); ++i) {
    for (const auto in : g.inputs(i))
      if (in >= i) return false;
    for (const auto c : g.controls(i))
      if (c >= i) return false;
  }
  return built.status.problem == ir::build_problem::none && g.size() > 5 && count_of(g, "gradient") == 0;
}
static_assert(inputs_come_first());

constexpr auto other_w = variable<"w", float, 4>(zeros);
constexpr auto other_x = placeholder<"x", double, 3>();
constexpr bool clash(ir::build_status s, const shape& a, const shape& b) {
  return s.problem == ir::build_problem::name_clash && s.first.dims == a && s.second.dims == b;
}
static_assert(clash(build(w, other_w).status, {3}, {4}));
static_assert(build(x, other_x).status.problem == ir::build_problem::name_clash);
static_assert(build(gradient(sum(x), w)).status.problem == ir::build_problem::independent);
static_assert(build(gradient(sum(assign(w, x)), x)).status.problem == ir::build_problem::no_gradient);
static_assert(build(gradient(sum(assign(w, x)), x)).status.op->name == "assign");
static_assert(build(gradient(sum(sign(x)), x)).status.problem == ir::build_problem::independent);

TEST_CASE("a graph built at run time is the one that the compiler builds") {
  CHECK(shared_nodes() == 7);
  CHECK(doubled() == 9);
  CHECK(inputs_come_first());
  CHECK(clash(build(w, other_w).status, {3}, {4}));
  CHECK(build(gradient(sum(x), w)).status.problem == ir::build_problem::independent);
  CHECK(build(gradient(sum(assign(w, x)), x)).status.problem == ir::build_problem::no_gradient);
}

TEST_CASE("numbers written in place stay apart, equal ones with a name are one node") {
  const auto apart = build(2.0f * x + 3.0f * x);
  CHECK(count_of(view_of(apart), "literal") == 2);
  CHECK(count_of(view_of(apart), "multiply") == 2);
  const auto rate = constant<"rate">(0.5f);
  const auto again = constant<"rate">(0.5f);
  const auto named = build(rate * x + again * x);
  CHECK(count_of(view_of(named), "literal") == 1);
  CHECK(count_of(view_of(named), "multiply") == 1);
}

TEST_CASE("two equal updates written at two places are two") {
  const auto one = assign_add(w, x);
  const auto two = assign_add(w, x);
  CHECK(count_of(view_of(build(group(one, two))), "assign_add") == 2);
  CHECK(count_of(view_of(build(group(one, one))), "assign_add") == 1);
}

TEST_CASE("a graph larger than its arrays is refused, not cut") {
  const auto grow = [](const auto& e) { return tagma::sin(tagma::cos(tagma::exp(tagma::sqrt(e)))); };
  const auto large = grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(x)))))))))))))))));
  CHECK(build(large).status.problem == ir::build_problem::too_large);
}

}  // namespace
