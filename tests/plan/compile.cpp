// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/compile.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using plan::storage_kind;
using test::build, test::room, test::view_of;

constexpr auto x = placeholder<"x", float, 4, 3>();
constexpr auto row = placeholder<"row", float, 3>();
constexpr auto w = variable<"w", float, 4, 3>(static_initializer<initializer_kind::zeros>{});

template <std::size_t Roots>
constexpr auto planned(const ir::built_graph<room, Roots>& built) {
  fixed_array<ir::node_id, Roots> fetches{};
  for (std::size_t i = 0; i < Roots; ++i) fetches[i] = built.roots[i];
  return plan::compile_plan<room, 4 * room, 4 * room, Roots>(view_of(built), fetches);
}

/// The same where products go on with the loop over their result, as on a GPU.
template <std::size_t Roots>
constexpr auto planned_with_kernels(const ir::built_graph<room, Roots>& built) {
  const auto g = view_of(built);
  fixed_array<ir::node_id, Roots> fetches{};
  for (std::size_t i = 0; i < Roots; ++i) fetches[i] = built.roots[i];
  fixed_array<bool, room> begins{};
  for (ir::node_id i = 0; i < g.size(); ++i) begins[i] = g.info(i).name == "matmul";
  const auto needs = ir::prune<room>(g, fetches);
  const auto fusion = ir::fuse<room>(g, needs, fetches, {}, begins);
  const auto order = plan::schedule<room, 4 * room>(g, needs, fusion);
  return plan::assign_storage(
      plan::write_tables<room, 4 * room, 4 * room, Roots>(g, fetches, needs, fusion, order, {}));
}

/// One loop over two inputs: one stretched along the rows, so not contiguous over the joined axes.
constexpr bool one_loop() {
  const auto p = planned(build(tagma::exp(x * row) - x));
  return p.sizes.steps == 1 && p.steps[0].fused && p.operation_count[0] == 3 && p.steps[0].operands == 2 &&
         p.sizes.blocks == 1 && p.loads[0].contiguous && p.loads[1].contiguous;
}
static_assert(one_loop());

/// An input that is stretched along the last axis is not read one element after the other.
constexpr bool loop_over_a_column() {
  const auto p = planned(build(x * placeholder<"column", float, 4, 1>()));
  const auto q = planned(build(x * placeholder<"number", float>()));
  return p.sizes.steps == 1 && p.loads[0].contiguous && !p.loads[1].contiguous && q.loads[0].contiguous &&
         !q.loads[1].contiguous;
}
static_assert(loop_over_a_column());

/// A chain of kernels needs two blocks; softmax writes over its input.
constexpr bool in_place() {
  const auto p = planned(build(softmax(matmul(x, placeholder<"k", float, 3, 5>()))));
  return p.sizes.steps == 2 && p.sizes.blocks == 1;
}
static_assert(in_place());

/// Nothing is written over a feed, a variable, or a value that is still read.
constexpr bool not_in_place() {
  const auto feed = planned(build(softmax(x)));
  const auto product = matmul(x, placeholder<"k", float, 3, 5>());
  const auto twice = planned(build(softmax(product), sum(product)));
  const auto state = planned(build(softmax(w)));
  return feed.sizes.blocks == 1 && feed.nodes[feed.steps[0].node].storage == storage_kind::arena &&
         twice.sizes.blocks == 3 && state.sizes.blocks == 1;
}
static_assert(not_in_place());

/// Bytes are taken over for elements of the same size alone, be they wider or narrower: the block is as large as the
/// tensor that it was made for, and a loop writes behind or before what it still has to read.
constexpr bool in_place_for_one_size() {
  const auto product = matmul(x, placeholder<"k", float, 3, 5>());
  const auto precise = matmul(placeholder<"a", double, 4, 3>(), placeholder<"b", double, 3, 5>());
  const auto wider = planned(build(cast<double>(product)));
  const auto narrower = planned(build(cast<float>(precise)));
  const auto bytes = planned(build(cast<std::uint8_t>(product)));
  const auto same = planned(build(cast<std::int32_t>(product)));
  const auto chain = planned(build(cast<double>(softmax(product))));
  return wider.sizes.steps == 2 && wider.sizes.blocks == 2 && narrower.sizes.blocks == 2 && bytes.sizes.blocks == 2 &&
         same.sizes.steps == 2 && same.sizes.blocks == 1 && chain.sizes.steps == 3 && chain.sizes.blocks == 2;
}
static_assert(in_place_for_one_size());

/// A tensor that dies is written over only by a result of its shape; one that a view shows in another shape is not.
constexpr bool in_place_for_one_shape() {
  const auto column = matmul(x, placeholder<"c", float, 3, 1>());
  const auto stretched = planned(build(column + x));
  const auto product = matmul(x, placeholder<"k", float, 3, 4>());
  const auto plain = planned(build(product + placeholder<"z", float, 4, 4>()));
  const auto both = planned(build(reshape<4, 1, 4>(product) + product));
  return stretched.sizes.blocks == 2 && plain.sizes.blocks == 1 && both.sizes.steps == 2 && both.sizes.blocks == 2;
}
static_assert(in_place_for_one_shape());

/// A kernel writes over its input only if it says that it may, and a product with a loop behind it over none.
constexpr bool out_of_place() {
  const auto square = placeholder<"square", float, 3, 3>();
  const auto products = planned(build(matmul(matmul(x, square), square)));
  const auto with_loop = planned_with_kernels(build(tagma::tanh(matmul(softmax(x), square))));
  const auto& last = with_loop.steps[1];
  return products.sizes.steps == 2 && products.sizes.blocks == 2 && with_loop.sizes.steps == 2 && last.fused &&
         last.before != ir::no_node && with_loop.sizes.blocks == 2;
}
static_assert(out_of_place());

/// Who reads a view reads the tensor that it shows, which lives until then.
constexpr bool read_as_a_view() {
  const auto product = matmul(x, placeholder<"k", float, 3, 5>());
  const auto p = planned(build(softmax(product), sum(reshape<20>(product))));
  const auto q = planned(build(sum(reshape<20>(product)), softmax(product)));
  return p.sizes.steps == 3 && p.sizes.blocks == 3 && q.sizes.steps == 3 && q.sizes.blocks == 2;
}
static_assert(read_as_a_view());

/// A view has the bytes of what it shows; an update those of its variable.
constexpr bool shares() {
  const auto p = planned(build(reshape<12>(x), assign(w, x), reshape<2, 6>(tagma::exp(x))));
  const auto& feed = p.nodes[p.fetches[0]];
  const auto& update = p.nodes[p.fetches[1]];
  const auto& shown = p.nodes[p.fetches[2]];
  return feed.storage == storage_kind::feed && update.storage == storage_kind::variable &&
         shown.storage == storage_kind::arena && p.sizes.blocks == 1 && p.writes_variables && p.feeds == 1;
}
static_assert(shares());

/// The fetched old value is taken before the update overwrites it.
constexpr bool fetches_in_time() {
  const auto p = planned(build(w, assign(w, x)));
  return p.fetch_steps[0] == 0 && p.fetch_steps[1] == 1 && p.sizes.steps == 1;
}
static_assert(fetches_in_time());

TEST_CASE("plans are the same in the compiler and at run time") {
  CHECK(one_loop());
  CHECK(in_place());
  CHECK(not_in_place());
  CHECK(loop_over_a_column());
  CHECK(out_of_place());
  CHECK(read_as_a_view());
  CHECK(in_place_for_one_size());
  CHECK(in_place_for_one_shape());
  CHECK(shares());
  CHECK(fetches_in_time());
}

static_assert(plan::detail::is_stretched({3}, {4, 3}, 0) && !plan::detail::is_stretched({3}, {4, 3}, 1));
static_assert(plan::detail::is_stretched({4, 1}, {4, 3}, 1) && !plan::detail::is_stretched({4, 1}, {4, 1}, 1));

}  // namespace
