// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/prune.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using ir::need;
using test::build, test::find, test::room, test::view_of;

constexpr auto x = placeholder<"x", float, dyn, 3>();
constexpr auto w = variable<"w", float, 3>(static_initializer<initializer_kind::zeros>{});

constexpr bool keeps_what_is_needed() {
  const auto built = build(sum(tagma::exp(x)), mean(tagma::log(x)), after(assign(w, sum<0>(x)))(tagma::sqrt(x)));
  const auto g = view_of(built);
  const auto first = ir::prune<room>(g, {built.roots.data(), 1});
  const bool one = first[find(g, "exp")] == need::value && first[find(g, "log")] == need::nothing &&
                   first[find(g, "assign")] == need::nothing && first[find(g, "placeholder")] == need::value;
  const auto third = ir::prune<room>(g, {built.roots.data() + 2, 1});
  const bool three = third[find(g, "assign")] == need::value && third[find(g, "sqrt")] == need::value &&
                     third[find(g, "exp")] == need::nothing;
  return one && three;
}
static_assert(keeps_what_is_needed());

/// The number of elements needs extents of an exponential, never its elements.
constexpr bool knows_extents() {
  const auto built = build(mean(tagma::exp(x)));
  const auto g = view_of(built);
  const auto fraction = find(g, "fraction");
  const auto needs = ir::prune<room>(g, {&fraction, 1});
  return needs[fraction] == need::value && needs[find(g, "exp")] == need::extents &&
         needs[find(g, "placeholder")] == need::extents && needs[find(g, "sum")] == need::nothing;
}
static_assert(knows_extents());

TEST_CASE("a fetch needs its inputs and what they wait for") {
  CHECK(keeps_what_is_needed());
  CHECK(knows_extents());
}

}  // namespace
