// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/versions.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"
#include "tagma/expr/op/view.hpp"

namespace {

using namespace tagma;
using test::build, test::room, test::view_of;

constexpr auto x = placeholder<"x", float, 3>();
constexpr auto w = variable<"w", float, 3>(static_initializer<initializer_kind::zeros>{});

/// Which update must wait for each of four readers: before both, between them through a view, behind the second.
constexpr bool ordered() {
  const auto first = assign(w, x);
  const auto second = assign_add(w, tagma::exp(x));
  const auto early = sum(w);
  const auto middle = sum(reshape<3, 1>(first));
  const auto late = after(second)(sum(w));
  const auto built = build(first, second, early, middle, late);
  const auto g = view_of(built);
  const auto v = ir::find_versions<room>(g, ir::prune<room>(g, g.roots));
  const auto variable = v.base_of(built.roots[0]);
  const auto update = [&](int root) { return v.update_after(g, variable, built.roots[root]); };
  return g.info(variable).name == "variable" && v.first(variable) == built.roots[0] && v.next(built.roots[0]) == built.roots[1] &&
         v.next(built.roots[1]) == ir::no_node && update(2) == built.roots[0] && update(3) == built.roots[1] &&
         update(4) == ir::no_node && v.base_of(built.roots[2]) == ir::no_node;
}
static_assert(ordered());

TEST_CASE("a read belongs to the version after the last update it waits for") { CHECK(ordered()); }

}  // namespace
