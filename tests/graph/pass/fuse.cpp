// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/fuse.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using ir::fusion_reason;
using test::build, test::find, test::room, test::view_of;

constexpr auto x = placeholder<"x", float, 4, 3>();
constexpr auto row = placeholder<"row", float, 3>();
constexpr auto w = variable<"w", float, 4, 3>(static_initializer<initializer_kind::zeros>{});

template <class Built>
constexpr auto fused(const Built& built) {
  const auto g = view_of(built);
  return ir::fuse<room>(g, ir::prune<room>(g, g.roots), g.roots);
}

constexpr fusion_reason reason(std::string_view name, const auto& built) { return fused(built).reason[find(view_of(built), name)]; }

constexpr bool reasons() {
  const auto chain = build(tagma::exp(tagma::log(tagma::sqrt(x))));
  const auto broadcast = build(tagma::exp(row) * x);
  const auto summed = build(sum(tagma::exp(x)));
  const auto fetched = build(tagma::exp(x), tagma::log(tagma::exp(x)));
  const auto two = build(sum(tagma::log(tagma::exp(x))), sum(tagma::sqrt(tagma::exp(x))));
  const auto tied = build(tagma::log(after(assign(w, x))(tagma::exp(x))));
  return reason("log", chain) == fusion_reason::fused && reason("sqrt", chain) == fusion_reason::fused &&
         reason("exp", chain) == fusion_reason::fetched && fused(chain).size[find(view_of(chain), "exp")] == 3 &&
         reason("exp", broadcast) == fusion_reason::other_shape &&
         reason("exp", summed) == fusion_reason::read_by_other_kernel && reason("exp", fetched) == fusion_reason::fetched &&
         reason("exp", two) == fusion_reason::read_by_many && reason("exp", tied) == fusion_reason::ordered;
}
static_assert(reasons());

/// A node with two readers in one loop is still computed once, inside it.
constexpr bool diamond() {
  const auto built = build(tagma::log(tagma::exp(x)) * tagma::sqrt(tagma::exp(x)));
  return reason("exp", built) == fusion_reason::fused && reason("log", built) == fusion_reason::fused;
}
static_assert(diamond());

/// What reads a variable before its update is no part of a loop behind it.
constexpr bool parted() {
  const auto built = build(tagma::exp(w) + assign(w, x));
  const auto same = build(tagma::exp(w) + x, assign(w, x));
  return reason("exp", built) == fusion_reason::ordered && reason("exp", same) == fusion_reason::fused;
}
static_assert(parted());

/// Where products can go on with loops.
template <class Built>
constexpr auto fused_with_products(const Built& built) {
  const auto g = view_of(built);
  fixed_array<bool, room> begins{};
  for (ir::node_id i = 0; i < g.size(); ++i) begins[i] = g.info(i).name == "matmul";
  return ir::fuse<room>(g, ir::prune<room>(g, g.roots), g.roots, {}, begins);
}
constexpr auto square = placeholder<"square", float, 3, 3>();
constexpr auto product = matmul(x, square);

/// A product joins the loop that alone reads it: one of the same extents and type, and only one product.
constexpr bool products() {
  const auto goes_on = [](const auto& built) {
    const auto g = view_of(built);
    const auto f = fused_with_products(built);
    int count = 0;
    for (ir::node_id i = 0; i < g.size(); ++i)
      count += g.info(i).name == "matmul" && f.group[i] != i && f.reason[i] == fusion_reason::fused;
    return count;
  };
  const auto one = build(tagma::exp(product + row));
  const auto size = fused_with_products(one).size[find(view_of(one), "exp")];
  const auto once = [&](const auto&... outputs) { return goes_on(build(outputs...)) == 1; };
  const auto never = [&](const auto&... outputs) { return goes_on(build(outputs...)) == 0; };
  return size == 2 && once(tagma::exp(product + row)) && once(row + product) && once(product * product) &&
         once(product + matmul<false, true>(x, square)) && never(product) && never(product, product + row) &&
         never(sum(product), product + row) && never(tagma::exp(product), sum(tagma::log(product))) &&
         never(placeholder<"batch", float, 2, 4, 3>() + product) && never(cast<double>(product)) &&
         never(after(assign(w, x))(product) + row) && never(product + row, matmul(product, square)) &&
         once(sum(matmul<false, true>(x, product + row)));
}
static_assert(products());

constexpr int largest_group() {
  const auto grow = [](const auto& e) { return tagma::sin(tagma::cos(tagma::exp(tagma::sqrt(e)))); };
  const auto built = build(grow(grow(grow(grow(grow(x))))));
  const auto f = fused(built);
  int largest = 0;
  for (int i = 0; i < built.nodes; ++i) largest = f.size[i] > largest ? f.size[i] : largest;
  return largest;
}
static_assert(largest_group() == ir::max_group);

TEST_CASE("loops join what has one reader and one shape") {
  CHECK(reasons());
  CHECK(diamond());
  CHECK(parted());
  CHECK(products());
  CHECK(largest_group() == ir::max_group);
  CHECK(to_string(fusion_reason::read_by_many) == "read by more than one loop");
}

}  // namespace
