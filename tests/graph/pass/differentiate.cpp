// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/differentiate.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/operators.hpp"
#include "tagma/expr/placeholder.hpp"
#include "tagma/graph/pass/prune.hpp"

namespace {

using namespace tagma;
using test::build, test::view_of;

constexpr auto x = placeholder<"x", float, 3>();
constexpr auto y = placeholder<"y", float, 2, 3>();
constexpr auto s = placeholder<"s", float>();

constexpr tensor_spec type_of_gradient() {
  const auto built = build(gradient(sum(x * y), x));
  return view_of(built)[built.roots[0]].spec;
}
static_assert(type_of_gradient() == tensor_spec{dtype::float32, {3}});

/// d(s * s) = s + s, d(s) = 1, d(d(s * s)) = 2: constants fold.
constexpr double slope_of_slope() {
  const auto built = build(gradient(gradient(square(s), s), s));
  const auto g = view_of(built);
  return g.info(built.roots[0]).name == "constant" ? ir::as_double(g.attributes(built.roots[0])[0]) : 0;
}
static_assert(slope_of_slope() == 2);

/// The gradient by one factor needs one product: not the loss itself, and not the gradient by the other factor.
constexpr int products() {
  const auto built = build(gradient(sum(matmul(y, placeholder<"z", float, 3, 4>())), y));
  const auto g = view_of(built);
  const auto needs = ir::prune<test::room>(g, g.roots);
  int needed = 0;
  for (int i = 0; i < g.size(); ++i) needed += g.info(i).name == "matmul" && needs[i] == ir::need::value;
  return needed;
}
static_assert(products() == 1);

constexpr bool stops() {
  return build(gradient(sum(stop_gradient(x) * x), x)).status.problem == ir::build_problem::none &&
         build(gradient(sum(stop_gradient(x)), x)).status.problem == ir::build_problem::independent &&
         build(gradient(sum(cast<float>(argmax(y))), y)).status.problem == ir::build_problem::independent;
}
static_assert(stops());

/// What a gradient sums over rows: `u` alone if signs and factors of columns were taken out.
template <class T, class Scale>
constexpr bool sums_what_is_fed(const Scale& scale) {
  constexpr auto rows = placeholder<"rows", T, 5, 3>();
  constexpr auto u = placeholder<"u", T, 5, 3>();
  constexpr auto mean = placeholder<"mean", T, 3>();
  const auto built = build(gradient(sum((rows - mean) * scale * u), mean));
  const auto g = view_of(built);
  const auto needs = ir::prune<test::room>(g, g.roots);
  bool fed = g.info(built.roots[0]).name != "sum";
  for (int i = 0; i < g.size(); ++i)
    if (g.info(i).name == "sum" && needs[i] == ir::need::value)
      fed = fed && g.info(g.inputs(i)[0]).name == "placeholder";
  return fed && g[built.roots[0]].spec == tensor_spec{mean.spec};
}
static_assert(sums_what_is_fed<float>(placeholder<"scale", float, 3>()));
static_assert(sums_what_is_fed<double>(placeholder<"scale", double, 1, 3>()) == false);
static_assert(sums_what_is_fed<float>(placeholder<"scale", float, 5, 1>()) == false);
static_assert(sums_what_is_fed<float16>(placeholder<"scale", float16, 3>()) == false);  // the sum could overflow

TEST_CASE("gradients are nodes, at run time as in the compiler") {
  CHECK(type_of_gradient() == tensor_spec{dtype::float32, {3}});
  CHECK(slope_of_slope() == 2);
  CHECK(products() == 1);
  CHECK(stops());
}

TEST_CASE("a chain costs a number of nodes that grows with its length") {
  const auto deep = [](const auto& e) { return tagma::tanh(tagma::tanh(tagma::tanh(tagma::tanh(e)))); };
  const auto four = build(gradient(sum(deep(x)), x));
  const auto eight = build(gradient(sum(deep(deep(x))), x));
  REQUIRE(four.status.problem == ir::build_problem::none);
  REQUIRE(eight.status.problem == ir::build_problem::none);
  CHECK(eight.nodes - four.nodes == 4 * 4);  // tanh, its square, 1 minus it, times upstream
}

}  // namespace
