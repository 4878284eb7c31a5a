// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/build.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "support/graphs.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"
#include "tagma/nn/optimizers.hpp"

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

constexpr auto ones = static_initializer<initializer_kind::ones>{};
constexpr auto one_w = variable<"w", float, 3>(ones);
constexpr auto still_w = variable<"w", float, 3>(zeros, not_trainable);
constexpr bool begin_apart(const ir::build_status& s) {
  return s.problem == ir::build_problem::two_beginnings && s.text == "w" && s.one != s.other;
}
static_assert(begin_apart(build(w, one_w).status));
static_assert(begin_apart(build(w, still_w).status));
static_assert(build(w, variable<"w", float, 3>(zeros)).status.good());
static_assert(build(w, other_w).status.text == "w");

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
  const auto large =
      grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(grow(x)))))))))))))))));
  CHECK(build(large).status.problem == ir::build_problem::too_large);
}

}  // namespace

namespace {

/// Records of many variables, made by hand: written as expressions they would keep the compiler busy.
struct many_variables {
  std::vector<std::string> names;
  std::vector<ir::record> records;
  std::vector<const ir::record*> all;
  static constexpr ir::attribute attributes[3]{0, 1, 0};

  explicit many_variables(std::size_t count) : names(count), records(count) {
    for (std::size_t i = 0; i < count; ++i) {
      names[i] = "v" + std::to_string(i);
      records[i].op = &ir::rules<op::variable>;
      records[i].hash = i + 1;
      records[i].spec = {dtype::float32, {3}};
      records[i].attributes = attributes;
      records[i].name = names[i];
      all.push_back(&records[i]);
    }
  }
};

template <std::size_t Nodes>
auto build_record(const ir::record& r) {
  return std::make_unique<ir::built_graph<Nodes, 1>>(ir::build_graph<Nodes, 1>({{&r}}));
}

}  // namespace

TEST_CASE("a node has as many inputs and control dependencies as anyone writes") {
  const many_variables v(1100);
  const ir::attribute axis = 0;
  ir::record joined;
  joined.op = &ir::rules<op::concat>;
  joined.hash = 5000;
  joined.spec = {dtype::float32, {3300}};
  joined.inputs = v.all;
  joined.attributes = {&axis, 1};
  const auto concat = build_record<4096>(joined);
  REQUIRE(concat->status.problem == ir::build_problem::none);
  CHECK(view_of(*concat).inputs(concat->roots[0]).size() == 1100);

  ir::record together;
  together.op = &ir::rules<op::group>;
  together.hash = 5001;
  together.controls = v.all;
  const auto group = build_record<4096>(together);
  REQUIRE(group->status.problem == ir::build_problem::none);
  CHECK(view_of(*group).controls(group->roots[0]).size() == 1100);
}

TEST_CASE("an optimizer is given as many variables as anyone writes; a graph that is too small for them says so") {
  const many_variables v(200);
  const auto step = variable<"step", std::int64_t>(static_initializer<initializer_kind::zeros>{}, not_trainable);
  const double number = 0.5;
  const ir::attribute bits = std::bit_cast<ir::attribute>(number);
  ir::record rate;
  rate.op = &ir::rules<ir::constant_op>;
  rate.hash = 6000;
  rate.spec = {dtype::float64, {}};
  rate.attributes = {&bits, 1};
  std::vector<const ir::record*> inputs;
  for (const ir::record* one : v.all) {
    inputs.push_back(one);
    inputs.push_back(&x.record());
  }
  inputs.push_back(&rate);
  inputs.push_back(&step.record());
  const ir::attribute pairs = 200;
  ir::record train;
  train.op = &ir::rules<op::optimizer<op::apply_sgd>>;
  train.hash = 6001;
  train.inputs = inputs;
  train.attributes = {&pairs, 1};
  const auto built = build_record<1024>(train);
  REQUIRE(built->status.problem == ir::build_problem::none);
  CHECK(count_of(view_of(*built), "apply_sgd") == 200);
  CHECK(build_record<256>(train)->status.problem == ir::build_problem::too_large);
}
